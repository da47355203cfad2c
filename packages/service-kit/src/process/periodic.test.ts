import { periodic } from './periodic.ts';

const warnings: string[] = [];
const logger = { warn: ((fields: { work: string }) => warnings.push(fields.work)) as never };
const turn = () => new Promise(setImmediate);

it('runs a round at the start, and the next one after the end of the one before', async () => {
  const ends: (() => void)[] = [];
  const part = periodic({ name: 'sweep', everyMs: 1, logger }, () => new Promise<void>((end) => ends.push(end)));
  await part.start();
  await turn();
  expect(ends.length).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(ends.length).toBe(1);
  ends[0]?.();
  while (ends.length < 2) await turn();
  const stopped = part.stop();
  ends[1]?.();
  await stopped;
  await turn();
  expect(ends.length).toBe(2);
});

it('pauses before the first round where that is wanted', async () => {
  let rounds = 0;
  const part = periodic({ name: 'sweep', everyMs: 60_000, logger, startsWith: 'pause' }, async () => (rounds += 1));
  await part.start();
  await turn();
  await part.stop();
  expect(rounds).toBe(0);
});

it('logs a round that fails, and goes on', async () => {
  let rounds = 0;
  const part = periodic({ name: 'sweep', everyMs: 1, logger }, async () => {
    rounds += 1;
    throw new Error('the database is away');
  });
  await part.start();
  while (rounds < 3) await turn();
  await part.stop();
  expect(warnings.slice(0, 2)).toEqual(['sweep', 'sweep']);
});

it('ends a round through its signal, and waits for it no longer than it may', async () => {
  let isAborted = false;
  const part = periodic({ name: 'sweep', everyMs: 1, logger, stopWithinMs: 10 }, (signal) => {
    signal.addEventListener('abort', () => (isAborted = true));
    return new Promise(() => {});
  });
  await part.start();
  await turn();
  await part.stop();
  expect(isAborted).toBe(true);
});
