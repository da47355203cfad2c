// Watches every request of a test file of the system for secrets, whichever client sends it.
import { watchFetch } from '../secrets/secret-watch.ts';
import { runWatcher } from '../secrets/test-run.ts';

export default function watchSecrets(): void {
  globalThis.fetch = watchFetch(globalThis.fetch, runWatcher);
}
