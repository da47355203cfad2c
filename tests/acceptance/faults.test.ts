// kill -9 of any one process while the main job runs: the supervisor starts it again and the job completes.
import { type Api, ApiError } from '@almanac/api-client/api';
import { type Account, givenAccount } from '@almanac/testkit/builders';
import { type RunningSystem, readProcesses, startSystem, systemHome, systemHomeName } from '@almanac/testkit/system';
import { type Progress, steps } from './main-job.ts';

const patienceMs = 60_000;

describe('a process that is killed during the main job', () => {
  let started: RunningSystem | undefined;

  beforeAll(async () => {
    if (process.env[systemHomeName]) return;
    started = await startSystem(); // the system under test runs elsewhere; this one may be broken
    process.env.ALMANAC_BASE_URL = started.baseUrl;
    process.env[systemHomeName] = started.home;
  });

  afterAll(async () => {
    await started?.stop();
  });

  // Each is killed before a step that needs it, and again in the middle of the step that works in the background.
  it.each(['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'postgres'])(
    '%s is started again and the job completes',
    async (name) => {
      const account: Account = await givenAccount();
      const api = patient(await account.person());
      const progress = {} as Progress;
      for (const [place, step] of steps.entries()) {
        if (place % 3 === 1) await killAndWaitForAnother(name);
        const background = /^imports/.test(step.name) ? setTimeout(() => kill(name), 400) : undefined;
        await step.run(api, progress);
        clearTimeout(background);
      }
    },
  );
});

function kill(name: string): number {
  const pid = readProcesses(systemHome())[name] as number;
  process.kill(pid, 'SIGKILL');
  return pid;
}

async function killAndWaitForAnother(name: string): Promise<void> {
  const killed = kill(name);
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const pid = readProcesses(systemHome())[name];
    if (pid !== undefined && pid !== killed) return;
    if (Date.now() > deadline) throw new Error(`${name} was not started again`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * A client that tries again while the system says that it isn't available. A write whose answer was lost may have been
 * done; what it made is then found to exist already, which the steps don't expect, so such a write fails the test.
 */
function patient(api: Api): Api {
  const again =
    <A extends unknown[], R>(send: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const deadline = Date.now() + patienceMs;
      for (;;) {
        try {
          return await send(...args);
        } catch (error) {
          const away =
            error instanceof ApiError ? [500, 502, 503, 504].includes(error.status) : error instanceof TypeError;
          if (!away || Date.now() > deadline) throw error;
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      }
    };
  const send = again(async (...args: Parameters<Api['send']>) => {
    const answer = await api.send(...args);
    if (answer.status >= 500) throw new ApiError(args[0], args[1], answer);
    return answer;
  });
  return {
    ...api,
    send: send as Api['send'],
    get: again(api.get) as Api['get'],
    post: again(api.post) as Api['post'],
    patch: again(api.patch) as Api['patch'],
    delete: again(api.delete),
  };
}
