// Stops the system that the setup started, and fails the run when a secret stands in a log of any system of the run, or in an
// answer that refused something.
import { holder } from './jest-system-setup.ts';
import { endRun } from './test-run.ts';

export default async function teardown(): Promise<void> {
  await holder.almanacTestSystem?.stop();
  await holder.almanacTestCluster?.stop();
  const { files, secrets, leaks } = endRun();
  if (leaks === '') console.error(`None of ${secrets} secrets stands in any of ${files} logs.`);
  else {
    console.error(`Secrets stand where they must not:\n${leaks}`);
    process.exitCode = 1; // jest keeps it, and its report of the tests as well, which an error thrown here would cost
  }
}
