// The end of the npm that runs a script. `kill` ends npm and its shell without a signal to the
// script's process, which would run on.

/** Calls back when npm has ended, if npm runs this process. */
export function onNpmEnd(callBack: () => void): void {
  if (!process.env.npm_lifecycle_event) return;
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    callBack();
  }, 1_000).unref();
}
