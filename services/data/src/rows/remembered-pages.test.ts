import type { DeployedTable } from '../catalogue/structure.ts';
import { RememberedPages } from './remembered-pages.ts';

const minute = 60_000;
/** The database, as these pages see it: its clock, when the table changed last, and the latest mark. */
let now: number;
let elapsed: number;
let changedAt: number;
let mark: number | undefined;
let isDeployed: boolean;
let questions: number;
let pages: RememberedPages;
const table = {} as DeployedTable;

beforeEach(() => {
  elapsed = 0;
  now = Date.parse('2026-03-01T12:00:00Z');
  changedAt = now - 60 * minute;
  mark = now - 5;
  isDeployed = true;
  questions = 0;
  pages = new RememberedPages({
    lastChange: async () => {
      questions += 1;
      return isDeployed ? { at: changedAt, now } : undefined;
    },
    marks: {
      find: () => (mark === undefined ? undefined : new Date(mark).toISOString()),
    },
    whenSetBack: () => {
      mark = undefined;
    },
    now: () => elapsed,
  });
});

/** Time goes by, and new marks come. */
function pass(ms: number): void {
  elapsed += ms;
  now += ms;
  mark = now - 5;
}

/** What is answered, and whether it was read for that. */
async function ask(key = 'page', body = 'rows', of = table) {
  let wasRead = false;
  const answer = await pages.find(of, key, async () => {
    wasRead = true;
    return isDeployed ? body : undefined;
  });
  return [answer?.toString(), wasRead ? 'read' : 'remembered'];
}

async function askTwice(key?: string) {
  expect(await ask(key)).toEqual(['rows', 'read']);
  expect(await ask(key)).toEqual(['rows', 'read']);
}

it('a page is remembered when it is asked for again, and costs nobody a question before', async () => {
  expect(await ask()).toEqual(['rows', 'read']);
  expect(questions).toBe(0);
  expect(await ask()).toEqual(['rows', 'read']);
  expect(await ask()).toEqual(['rows', 'remembered']);
  expect(questions).toBe(2);
  expect(await ask('another page')).toEqual(['rows', 'read']);
  expect(await ask('page', 'rows', {} as DeployedTable)).toEqual(['rows', 'read']);
});

it('is read again after a change, and remembered again when the table is at rest', async () => {
  await askTwice();
  changedAt = now;
  expect(await ask('page', 'new')).toEqual(['new', 'read']);
  pass(500);
  expect(await ask('page', 'newer')).toEqual(['newer', 'read']);
  pass(1_000);
  expect(await ask('page', 'newest')).toEqual(['newest', 'read']);
  expect(await ask()).toEqual(['newest', 'remembered']);
});

it('a table that is being changed is not asked with every page', async () => {
  await ask();
  changedAt = now;
  for (let i = 0; i < 10; i += 1) await ask();
  expect(questions).toBe(1);
});

it('what a change under way may still bring is not remembered without it', async () => {
  mark = changedAt - 1; // somebody began before the last change and has not ended
  await ask();
  for (let i = 0; i < 4; i += 1) {
    expect(await ask()).toEqual(['rows', 'read']);
    elapsed += 2_000;
    now += 2_000;
  }
  mark = undefined;
  expect(await ask()).toEqual(['rows', 'read']);
});

it('a table that is no longer what its entry says has no pages', async () => {
  await askTwice();
  isDeployed = false;
  expect(await ask()).toEqual([undefined, 'remembered']);
});

it('a database that is restored to an earlier day has its pages read anew', async () => {
  await askTwice();
  changedAt -= minute;
  expect(await ask('page', 'earlier')).toEqual(['earlier', 'read']);
});

it('after the clock was set back nothing is believed that was known before, and for a while nothing is kept', async () => {
  changedAt = now - 10_000;
  await askTwice();
  expect(await ask()).toEqual(['rows', 'remembered']);
  now -= minute; // and from now on a change may bear the time of the last one, or an earlier one
  expect(await ask('page', 'new')).toEqual(['new', 'read']);
  expect(mark).toBeUndefined();
  for (let i = 0; i < 5; i += 1) {
    pass(1.9 * minute); // whoever was writing then may still be about it
    expect(await ask('page', 'newer')).toEqual(['newer', 'read']);
  }
  pass(minute);
  expect(await ask()).toEqual(['rows', 'read']);
  expect(await ask()).toEqual(['rows', 'remembered']);
});

it('an answer that came late looks the same and costs no more than what was remembered', async () => {
  await askTwice();
  now -= 700;
  expect(await ask()).toEqual(['rows', 'read']);
  now += 700;
  mark = now - 5;
  expect(await ask()).toEqual(['rows', 'read']);
  expect(await ask()).toEqual(['rows', 'remembered']);
});

it('a page is read anew now and then', async () => {
  await askTwice();
  pass(9 * minute);
  expect(await ask()).toEqual(['rows', 'remembered']);
  pass(2 * minute);
  expect(await ask()).toEqual(['rows', 'read']);
  expect(await ask()).toEqual(['rows', 'remembered']);
});

it('also when it was set back by no more than a table has to be at rest', async () => {
  await askTwice();
  now -= 1_000;
  expect(await ask('page', 'new')).toEqual(['new', 'read']);
});

it('nor what was being read meanwhile', async () => {
  changedAt = now - 10_000;
  await ask();
  await ask('another page');
  let answer = (_: string) => {};
  const reading = pages.find(
    table,
    'page',
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  now -= minute;
  await ask('another page');
  pass(minute);
  answer('old');
  await reading;
  pass(9.5 * minute);
  expect(await ask()).toEqual(['rows', 'read']);
});

it('a clock that is a little late now and then changes nothing', async () => {
  await askTwice();
  now -= 400;
  expect(await ask()).toEqual(['rows', 'remembered']);
});

it('pages are forgotten when there is no room for them', async () => {
  const large = 'x'.repeat(1_000_000);
  for (let i = 0; i < 60; i += 1) {
    await ask(`large ${i}`, large);
    await ask(`large ${i}`, large);
  }
  expect(pages.size).toBeLessThanOrEqual(32 * 1_048_576);
  expect(await ask('large 59')).toEqual([large, 'remembered']);
  expect((await ask('large 0'))[1]).toBe('read');
});

it('what is too large, or has too long a filter, is not remembered', async () => {
  const huge = 'x'.repeat(1_100_000);
  for (let i = 0; i < 4; i += 1) expect((await ask('huge', huge))[1]).toBe('read');
  const long = 'x'.repeat(5_000);
  for (let i = 0; i < 4; i += 1) expect((await ask(long))[1]).toBe('read');
  expect(await ask()).toEqual(['rows', 'read']);
  expect(pages.size).toBe(0);
});

it('a page that fails to be read fails, and is read when it is asked for again', async () => {
  const failing = async () => {
    throw new Error('The connection was lost.');
  };
  await ask();
  await expect(pages.find(table, 'page', failing)).rejects.toThrow('lost');
  expect(await ask()).toEqual(['rows', 'read']);
  expect(await ask()).toEqual(['rows', 'remembered']);
});
