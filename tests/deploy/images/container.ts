// Containers of local images, on the network of this machine, by testcontainers.
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';

// Testcontainers' reaper is an image of a registry. What an interrupted run leaves ends with the
// engine.
process.env.TESTCONTAINERS_RYUK_DISABLED = 'true';
process.env.TESTCONTAINERS_HOST_OVERRIDE = '127.0.0.1';

const startWithinMs = 240_000; // on a machine with other work

/** The label of all containers of this run. */
const ours = { 'almanac.run': randomUUID() };

/** The name of a service's container in the system with this folder. */
export const containerName = (home: string, service: string) => `${basename(home)}-${service}`;

/** A container that reaches servers on this machine and restarts when its process ends. */
export class Container extends GenericContainer {
  /** Its output since its first start. */
  output = '';

  constructor(image: string) {
    super(image);
    // Waits for the port instead of Docker's health check, which runs every ten seconds only, and
    // maps no port of Docker's.
    this.withLabels(ours)
      .withNetworkMode('host')
      .withWaitStrategy(Wait.forListeningPorts())
      .withStartupTimeout(startWithinMs);
    this.withLogConsumer((stream) =>
      stream.on('data', (chunk) => {
        this.output += chunk;
      }),
    );
    this.hostConfig.RestartPolicy = { Name: 'unless-stopped' };
  }

  /** Confines it as deployed services are: read-only root, no capabilities, no new privileges. */
  confined(): this {
    this.hostConfig.ReadonlyRootfs = true;
    return this.withTmpFs({ '/tmp': '' }).withDroppedCapabilities('ALL').withSecurityOpt('no-new-privileges');
  }
}

/** Removes all containers of this run, also those that could not be started. */
export async function removeContainers(): Promise<void> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const label = Object.entries(ours).map(([name, value]) => `${name}=${value}`);
  const left = await dockerode.listContainers({ all: true, filters: { label } });
  await Promise.all(left.map(({ Id: id }) => dockerode.getContainer(id).remove({ force: true, v: true })));
}
