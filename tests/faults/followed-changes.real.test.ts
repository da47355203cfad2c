// kill -9 of RabbitMQ, jobs, data and PostgreSQL while others follow.
import { followedChanges } from '../support/followed-changes.suite.ts';
import { kill } from '../support/killing.ts';
import { type OwnBroker, startOwnBroker } from '../support/own-broker.ts';

let broker: OwnBroker;
let restarting: Promise<void> | undefined;

followedChanges({
  env: async () => {
    broker = await startOwnBroker();
    return { ALMANAC_BUS_URL: broker.url };
  },
  victims: {
    ...Object.fromEntries(['jobs', 'data', 'postgres'].map((name) => [name, () => kill(name)])),
    // Other processes are killed while it restarts, which takes its time.
    broker: async () => {
      await restarting;
      broker.kill();
      restarting = broker.restart();
    },
  },
});

afterAll(async () => {
  await restarting;
  await broker?.stop();
}, 300_000);
