// The neighbours of the gateways in a test file: a database for the bus, keys, and the fakes of
// given.ts.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { createTestKeys, type TestKeys } from '@almanac/testkit/calls/keys';
import { startBus } from '@almanac/testkit/messaging/bus';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import {
  type FakeBilling,
  type FakeIdentity,
  type FakeServices,
  givenBilling,
  givenIdentity,
  givenServices,
  publicUrl,
} from './fakes.ts';
import { type Fakes, givenGateway, type TestConfig, type TestGateway } from './given.ts';

type Neighbours = Fakes & {
  /** A gateway that runs from the first test to the last. */
  useGateway(config?: TestConfig): TestGateway;
  startGateway(config?: TestConfig): Promise<TestGateway>;
  /** The environment of a gateway that is a separate process. */
  gatewayEnv(port: number): Record<string, string>;
  /** Connects to the bus of the gateways as this service. */
  connectBus(service: string): Promise<Bus>;
  /** Ends a resource of the test file itself. The last that was started ends first. */
  onEnd(end: () => unknown): void;
};

/**
 * Starts the neighbours before the tests of a file, and resets the services before each test. The
 * result may be destructured at once: its objects are filled by the time that later hooks run.
 * A resource that a test or its `beforeEach` starts ends with the test, all others after the last.
 */
export function useNeighbours(): Neighbours {
  const keys = {} as TestKeys;
  const database = {} as TestDatabase;
  const services = {} as FakeServices;
  const identity = {} as FakeIdentity;
  const billing = {} as FakeBilling;
  const ends: (() => unknown)[] = [];
  let startedBefore = 0;
  const startGateway = async (config?: TestConfig) => {
    const gateway = await givenGateway({ keys, database, services, identity, billing }, config);
    ends.push(gateway.stop);
    return gateway;
  };
  const endDownTo = async (count: number) => {
    while (ends.length > count) await ends.pop()?.();
  };

  beforeAll(async () => {
    Object.assign(database, await createTestDatabase('gateway'));
    ends.push(database.drop);
    Object.assign(keys, await createTestKeys());
    Object.assign(services, await givenServices());
    ends.push(services.close);
    Object.assign(identity, await givenIdentity(keys, services));
    ends.push(identity.close);
    Object.assign(billing, await givenBilling(keys));
    ends.push(billing.close);
  });
  beforeEach(() => {
    services.reached.length = 0;
    services.answer(undefined);
    startedBefore = ends.length;
  });
  afterEach(async () => {
    services.release();
    await endDownTo(startedBefore);
  });
  afterAll(() => endDownTo(0));

  return {
    ...{ keys, database, services, identity, billing, startGateway },
    useGateway: (config) => {
      const gateway = {} as TestGateway;
      beforeAll(async () => {
        Object.assign(gateway, await startGateway(config));
      });
      return gateway;
    },
    gatewayEnv: (port) => ({
      ...keys.env,
      ALMANAC_BUS_URL: database.url,
      ALMANAC_LOG_LEVEL: 'silent',
      ALMANAC_PUBLIC_URL: publicUrl,
      GATEWAY_HTTP_PORT: String(port),
      BILLING_RPC: billing.rpc,
      IDENTITY_RPC: identity.rpc,
      IDENTITY_URL: identity.url,
      ...Object.fromEntries(
        ['METADATA', 'DATA', 'JOBS', 'BILLING', 'CONSOLE'].map((each) => [`${each}_URL`, services.url]),
      ),
    }),
    connectBus: async (service) => {
      const bus = await startBus(database.url, service);
      ends.push(() => bus.stop());
      return bus;
    },
    onEnd: (end) => {
      ends.push(end);
    },
  };
}

/** Publishes an event once, as the service whose bus this is. */
export const announce = (bus: Bus, type: string, payload: Record<string, unknown>) =>
  bus.publish([{ v: 1, id: crypto.randomUUID(), type, occurred_at: new Date().toISOString(), payload }]);
