// Stops the system that the setup started. The run fails when a log of any of its systems, or the
// answer to a refused request, contains a secret. Prints the internal errors in those logs, since a
// test that gets a 500 sees no cause.

import { endRun } from '../secrets/test-run.ts';
import { holder } from './system-setup.ts';

const maxShownFaults = 20;

export default async function teardown(): Promise<void> {
  await holder.almanacTestSystem?.stop();
  await holder.almanacTestCluster?.stop();
  const { files, secrets, leaks, faults } = endRun();
  if (leaks === '') console.error(`None of ${secrets} secrets is in any of ${files} logs.`);
  else {
    console.error(`Secrets were found in logs or answers:\n${leaks}`);
    process.exitCode = 1; // an error thrown here would cost Jest's report
  }
  for (const line of faults.slice(0, maxShownFaults)) console.error(line.slice(0, 4_000));
  if (faults.length > 0) console.error(`The logs contain ${faults.length} internal errors.`);
}
