// Before each test file of the whole system: every request it makes is watched for secrets, whatever client it uses.
import { watchFetch } from '../secrets/secret-watch.ts';
import { runWatcher } from '../secrets/test-run.ts';

export default function watchSecrets(): void {
  globalThis.fetch = watchFetch(globalThis.fetch, runWatcher);
}
