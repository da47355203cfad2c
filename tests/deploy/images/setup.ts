// Before the first end-to-end test on the images: starts them and all servers they need.
import { holder } from '@almanac/testkit/jest/system-setup';
import { beginRun } from '@almanac/testkit/secrets/test-run';
import { startImages } from './system.ts';

export default async function setup(): Promise<void> {
  if (!process.env.DOCKER_HOST)
    throw new Error('DOCKER_HOST is missing: this needs a Docker engine (scripts/servers/docker.sh start …).');
  beginRun();
  const system = await startImages();
  holder.almanacTestSystem = system;
  Object.assign(process.env, system.env);
}
