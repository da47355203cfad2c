// kill -9 of processes of the system under test, which its supervisor restarts, and a client that
// retries until then.
import { setTimeout as sleep } from 'node:timers/promises';
import { serviceNames } from '@almanac/embedded/services';
import { readProcesses, readReady, systemHome } from '@almanac/testkit/system/system';
import fc from 'fast-check';

/** How long something may take on a busy machine; only a failure takes all of it. */
export const patienceMs = 120_000;

const findProcess = (name: string) => readProcesses(systemHome())[name];

/** Kills a process, and waits until it has a successor. */
export async function kill(name: string): Promise<void> {
  await until(`${name} runs`, () => findProcess(name) !== undefined);
  const killed = findProcess(name) as number;
  process.kill(killed, 'SIGKILL');
  await until(`${name} was started again`, () => findProcess(name) !== undefined && findProcess(name) !== killed);
}

/** The processes of a system: its services and PostgreSQL. */
export const processCount = serviceNames.length + 1;

export const isEverythingUp = () => readReady(systemHome()).length === processCount;

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Timed out waiting until ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

type Victims = Record<string, () => Promise<void>>;

/** Each as often as the others, in an order and with pauses of the seed. */
function planKills(victims: Victims, { seed, rounds }: { seed: number; rounds: number }) {
  const names = Object.keys(victims);
  const round = fc.tuple(
    fc.shuffledSubarray(names, { minLength: names.length }),
    fc.array(fc.integer({ min: 100, max: 3_000 }), { minLength: names.length, maxLength: names.length }),
  );
  return fc
    .sample(round, { seed, numRuns: rounds })
    .flatMap(([order, pauses]) => order.map((name, place) => ({ name, afterMs: pauses[place] as number })));
}

/**
 * Kills one after the other, each once the last one is back, until all rounds or the work are over;
 * returns the names of the killed. The work continues while `shouldContinue` says so: until each
 * was killed once.
 */
export async function killDuring(
  work: (shouldContinue: () => boolean) => Promise<void>,
  victims: Victims,
  how: { seed: number; rounds: number },
): Promise<string[]> {
  const killed: string[] = [];
  let isOver = false;
  const over = work(() => !isOver && killed.length < Object.keys(victims).length).finally(() => {
    isOver = true;
  });
  over.catch(() => {}); // awaited below
  for (const { name, afterMs } of planKills(victims, how)) {
    await sleep(afterMs);
    if (isOver) break;
    try {
      await victims[name]?.();
      killed.push(name);
      await until('everything is up', isEverythingUp);
    } catch (error) {
      isOver = true;
      await over;
      throw error;
    }
  }
  await over;
  return killed;
}

const impatientFetch = globalThis.fetch;

/**
 * Makes `fetch` retry while the system is unavailable, as a careful client does; returns the undo.
 */
export function fetchPatiently(): () => void {
  globalThis.fetch = patientFetch;
  return () => {
    globalThis.fetch = impatientFetch;
  };
}

async function patientFetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const again = input instanceof Request ? input.clone() : input; // its body can be read once
    const answer = await impatientFetch(again, init).catch((error: unknown) => {
      // A caller's own limit holds: probes of readiness in this process have a short one.
      if (Date.now() > deadline || init?.signal?.aborted) throw error;
      return undefined;
    });
    if (answer && (![502, 503, 504].includes(answer.status) || Date.now() > deadline)) return answer;
    await answer?.arrayBuffer();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
