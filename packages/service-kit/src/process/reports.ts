// What a service reports to the process that started it (the supervisor of the embedded system, or
// a test), over IPC. Without such a process a report goes nowhere.

/** A server outside that a service starts without, but that its work waits for. */
export type NeededServer = 'bus' | 'object_store';

export type Report =
  | 'ready'
  /** All sentences about the service's configuration; none when it can run. */
  | { configProblems: string[] }
  /** The servers that the service needs and can't use at present. */
  | { unavailable: NeededServer[] };

/** The exit code of a process whose configuration keeps it from running (EX_CONFIG). */
export const configExitCode = 78;

/** Sends a report; resolves when it has left this process. */
export function report(sent: Report): Promise<void> {
  return new Promise((done) => {
    if (process.send) process.send(sent, undefined, undefined, () => done());
    else done();
  });
}
