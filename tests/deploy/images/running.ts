// Watches the containers of a system and reports as an embedded system does: processes and
// readiness in runtime.json, logs in files. So tests that kill processes or read logs work with
// both.
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Home } from '@almanac/embedded/home';
import { waitUntil } from '@almanac/embedded/processes';
import { getContainerRuntimeClient, type StartedTestContainer } from 'testcontainers';

/** A process of the system, by its name there. */
export type Watched = { name: string; container: StartedTestContainer; isReady(): Promise<boolean> };

export type Running = { name: string; pid: number | undefined; ready: boolean };

const readyWithinMs = 240_000; // all of them at once, on a machine with other work
const logsWithinMs = 30_000;

/**
 * Follows the containers as they end and restart, and reports the processes at each change. The
 * returned function stops that once all their logs are written; the containers have ended by then.
 */
export async function follow(
  home: Home,
  watched: readonly Watched[],
  onChange: (running: readonly Running[]) => void,
): Promise<() => Promise<void>> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const running = watched.map(({ name }): Running => ({ name, pid: undefined, ready: false }));
  const logs: Promise<unknown>[] = [];
  const tell = () => onChange(running);

  const begun = async (place: number) => {
    const { name, container, isReady } = watched[place] as Watched;
    const process = running[place] as Running;
    const { State: state } = await dockerode.getContainer(container.getId()).inspect();
    if (!state.Running || state.Pid === process.pid) return;
    Object.assign(process, { pid: state.Pid, ready: false });
    tell();
    logs.push(keepLog(name, container, state.StartedAt));
    // Tries for as long as this process runs: a test that waits for it has its own deadline.
    const isOver = () => process.pid !== state.Pid;
    while (!isOver() && !process.ready) {
      process.ready = (await isReady()) && !isOver();
      if (!process.ready) await sleep(100);
    }
    if (process.ready) tell();
  };

  const keepLog = async (name: string, container: StartedTestContainer, since: string) => {
    const file = createWriteStream(join(home.logs, `${name}.log`), { flags: 'a', mode: 0o600 });
    const output = await dockerode
      .getContainer(container.getId())
      .logs({ follow: true, stdout: true, stderr: true, since: Date.parse(since) / 1_000 });
    dockerode.modem.demuxStream(output, file, file);
    await new Promise((done) => output.once('end', done));
    await new Promise<void>((done) => file.end(() => done()));
  };

  const events = await dockerode.getEvents({
    filters: { container: watched.map(({ container }) => container.getId()), event: ['start', 'die'] },
  });
  events.on('data', (line: Buffer) => {
    for (const text of String(line).trim().split('\n')) {
      const { Action: action, id } = JSON.parse(text) as { Action: string; id: string };
      const place = watched.findIndex(({ container }) => container.getId() === id);
      if (action === 'start') void begun(place);
      else {
        Object.assign(running[place] as Running, { pid: undefined, ready: false });
        tell();
      }
    }
  });
  for (const [place] of watched.entries()) void begun(place);
  const late = () => running.filter(({ ready }) => !ready).map(({ name }) => name);
  const unfollow = () => (events as unknown as { destroy(): void }).destroy();
  if (!(await waitUntil(() => late().length === 0, readyWithinMs))) {
    unfollow();
    throw new Error(`Not ready in time: ${late().join(', ')}`);
  }
  return async () => {
    await Promise.race([Promise.all(logs), sleep(logsWithinMs, undefined, { ref: false })]);
    unfollow();
  };
}
