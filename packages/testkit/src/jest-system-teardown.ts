// Stops the system that the setup started, and takes its folder away.
import { holder } from './jest-system-setup.ts';

export default async function teardown(): Promise<void> {
  await holder.almanacTestSystem?.stop();
  await holder.almanacTestCluster?.stop();
}
