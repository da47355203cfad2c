// kill -9 of processes of the system under test, which its supervisor starts again, and a client that asks again meanwhile.
import { readProcesses, readReady, systemHome } from '@almanac/testkit/system';

/** How long something may take on a busy machine; only a failure takes all of it. */
export const patienceMs = 120_000;

const findProcess = (name: string) => readProcesses(systemHome())[name];

/** Kills it, and waits until there is another. */
export async function kill(name: string): Promise<void> {
  await until(`${name} runs`, () => findProcess(name) !== undefined);
  const killed = findProcess(name) as number;
  process.kill(killed, 'SIGKILL');
  await until(`${name} was started again`, () => findProcess(name) !== undefined && findProcess(name) !== killed);
}

export const isEverythingUp = () => readReady(systemHome()).length === 7;

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain until ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const impatientFetch = globalThis.fetch;

/** Lets `fetch` ask again while the system says that it isn't available, as a careful client does; answers how to undo that. */
export function fetchPatiently(): () => void {
  globalThis.fetch = patientFetch;
  return () => {
    globalThis.fetch = impatientFetch;
  };
}

async function patientFetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const answer = await impatientFetch(input, init).catch((error: unknown) => {
      if (Date.now() > deadline) throw error;
      return undefined;
    });
    if (answer && (![502, 503, 504].includes(answer.status) || Date.now() > deadline)) return answer;
    await answer?.arrayBuffer();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
