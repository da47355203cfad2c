// Stops the PostgreSQL cluster that the global setup started.
import { holder } from './global-setup.ts';

export default async function teardown(): Promise<void> {
  await holder.almanacTestCluster?.stop();
}
