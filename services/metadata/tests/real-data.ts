// The data service itself, as a process beside metadata under test, where its fake would not know what rows say.
import { createCaller } from '@almanac/testkit/call';
import type { TestKeys } from '@almanac/testkit/keys';
import { findFreePort } from '@almanac/testkit/ports';
import { createTestDatabase } from '@almanac/testkit/postgres';
import { endService, spawnService, untilReady } from '@almanac/testkit/service-process';

export type RealData = {
  /** Where it answers gRPC. */
  address: string;
  /** Creates a row as a machine of the account. */
  create(accountId: number, tableId: number, record: Record<string, unknown>): Promise<void>;
  stop(): Promise<void>;
};

/** Starts it on a database of its own. Only machines can call it: there is no identity to ask for rights. */
export async function startRealData(keys: TestKeys): Promise<RealData> {
  const [database, port, rpcPort] = await Promise.all([createTestDatabase('data'), findFreePort(), findFreePort()]);
  const child = spawnService('data', {
    ...keys.env,
    DATA_HTTP_PORT: String(port),
    DATA_RPC_PORT: String(rpcPort),
    DATA_DATABASE_URL: database.url,
    ALMANAC_BUS_URL: database.url,
    IDENTITY_RPC: '127.0.0.1:9',
    ALMANAC_LOG_LEVEL: 'silent',
  });
  const stop = async () => {
    await endService(child);
    await database.drop();
  };
  try {
    await untilReady('data', child);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    address: `127.0.0.1:${rpcPort}`,
    create: async (accountId, table_definition_id, record) => {
      const call = createCaller(`http://127.0.0.1:${port}`, keys, { accountId, applicationId: 1 });
      const { status, body } = await call('POST', '/api/v1/table_data', { table_definition_id, record });
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
    },
    stop,
  };
}
