// kill -9 of any one process while the main job runs: the supervisor starts it again and the job completes.
import { givenAccount } from '@almanac/testkit/builders';
import { givenLocalSystem, type LocalSystem, readProcesses, readReady, systemHome } from '@almanac/testkit/system';
import { type Progress, steps } from './main-job.ts';

const patienceMs = 60_000;
const impatientFetch = globalThis.fetch;

describe('a process that is killed during the main job', () => {
  let system: LocalSystem;

  beforeAll(async () => {
    globalThis.fetch = patientFetch;
    system = await givenLocalSystem();
  });

  beforeEach(() => until('everything is up', isEverythingUp));

  afterAll(async () => {
    globalThis.fetch = impatientFetch;
    await system?.stop();
  });

  // Each is killed before steps that need it, and while imports work in the background; never while a call is under way,
  // since then nobody could say whether it was done.
  it.each(['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'postgres'])(
    '%s is started again and the job completes',
    async (name) => {
      const account = await givenAccount();
      const api = await account.person();
      const progress = { disturb: () => kill(name) } as Progress;
      for (const [place, step] of steps.entries()) {
        if (place % 3 === 1) await kill(name);
        await step.run(api, progress);
      }
    },
  );
});

const findProcess = (name: string) => readProcesses(systemHome())[name];

/** Kills it, and waits until there is another. */
async function kill(name: string): Promise<void> {
  await until(`${name} runs`, () => findProcess(name) !== undefined);
  const killed = findProcess(name) as number;
  process.kill(killed, 'SIGKILL');
  await until(`${name} was started again`, () => findProcess(name) !== undefined && findProcess(name) !== killed);
}

const isEverythingUp = () => readReady(systemHome()).length === 7;

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain until ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Asks again while the system says that it isn't available, as a careful client does.
 */
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
