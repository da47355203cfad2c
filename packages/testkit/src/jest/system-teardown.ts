// Stops the system that the setup started, and fails the run when a secret stands in a log of any system of the run, or in an
// answer that refused something. Shows the faults of our own that are in those logs: a test that got a 500 knows no more than that.

import { endRun } from '../secrets/test-run.ts';
import { holder } from './system-setup.ts';

const mostFaults = 20;

export default async function teardown(): Promise<void> {
  await holder.almanacTestSystem?.stop();
  await holder.almanacTestCluster?.stop();
  const { files, secrets, leaks, faults } = endRun();
  if (leaks === '') console.error(`None of ${secrets} secrets stands in any of ${files} logs.`);
  else {
    console.error(`Secrets stand where they must not:\n${leaks}`);
    process.exitCode = 1; // jest keeps it, and its report of the tests as well, which an error thrown here would cost
  }
  for (const line of faults.slice(0, mostFaults)) console.error(line.slice(0, 4_000));
  if (faults.length > 0) console.error(`${faults.length} faults of our own are in the logs.`);
}
