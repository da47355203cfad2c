// Containers of local images, on the network of this machine, by testcontainers.
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';

// Its reaper's image comes from a registry. What is left when a run is cut off goes with the engine.
process.env.TESTCONTAINERS_RYUK_DISABLED = 'true';
process.env.TESTCONTAINERS_HOST_OVERRIDE = '127.0.0.1';

const startWithinMs = 240_000; // on a machine with other work

/** The label of all containers of this run. */
const ours = { 'almanac.run': randomUUID() };

/** What the container of a service is called, in the system that has this folder. */
export const containerName = (home: string, service: string) => `${basename(home)}-${service}`;

/** A container that reaches whatever listens on this machine, and is started again when it ends by itself. */
export class Container extends GenericContainer {
  /** What it has written since it was first started, until it ended. */
  said = '';

  constructor(image: string) {
    super(image);
    // Not until Docker finds it healthy, which asks every ten seconds only; it has no port of Docker's either.
    this.withLabels(ours)
      .withNetworkMode('host')
      .withWaitStrategy(Wait.forListeningPorts())
      .withStartupTimeout(startWithinMs);
    this.withLogConsumer((stream) =>
      stream.on('data', (chunk) => {
        this.said += chunk;
      }),
    );
    this.hostConfig.RestartPolicy = { Name: 'unless-stopped' };
  }

  /** Confines it as deployed services are: no file system to write to, no capabilities, no way to more rights. */
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
