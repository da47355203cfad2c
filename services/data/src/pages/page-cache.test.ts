import type { DeployedTable } from '../tables/table.ts';
import { PageCache } from './page-cache.ts';

const minute = 60_000;
/**
 * The database as the cache sees it: its clock, the last change of the table, and the latest mark.
 */
let now: number;
let elapsed: number;
let changedAt: number;
let mark: number | undefined;
let isDeployed: boolean;
let questions: number;
let pages: PageCache;
const table = {} as DeployedTable;

beforeEach(() => {
  elapsed = 0;
  now = Date.parse('2026-03-01T12:00:00Z');
  changedAt = now - 60 * minute;
  mark = now - 5;
  isDeployed = true;
  questions = 0;
  pages = new PageCache({
    lastChange: async () => {
      questions += 1;
      return isDeployed ? changedAt : undefined;
    },
    highWaterMark: {
      find: () => (mark === undefined ? undefined : new Date(mark).toISOString()),
    },
    now: () => elapsed,
  });
});

/** Lets time pass; the mark follows. */
function pass(ms: number): void {
  elapsed += ms;
  now += ms;
  mark = now - 5;
}

/** The page, and whether it was read or came from the cache. */
async function ask(key = 'page', body = 'rows', of = table) {
  const { body: cached, place, isOutdated } = await pages.find(of, key);
  if (cached || isOutdated) return [cached?.toString(), 'cached'];
  if (place) pages.store(place, body);
  return [body, 'read'];
}

async function askTwice(key?: string) {
  expect(await ask(key)).toEqual(['rows', 'read']);
  expect(await ask(key)).toEqual(['rows', 'read']);
}

it('a page is cached when it is requested again, and needs no query before', async () => {
  expect(await ask()).toEqual(['rows', 'read']);
  expect(questions).toBe(0);
  expect(await ask()).toEqual(['rows', 'read']);
  expect(await ask()).toEqual(['rows', 'cached']);
  expect(questions).toBe(2);
  expect(await ask('another page')).toEqual(['rows', 'read']);
  expect(await ask('page', 'rows', {} as DeployedTable)).toEqual(['rows', 'read']);
});

it('a page is read again after a change, and cached again when the table is at rest', async () => {
  await askTwice();
  changedAt = now;
  expect(await ask('page', 'new')).toEqual(['new', 'read']);
  pass(500);
  expect(await ask('page', 'newer')).toEqual(['newer', 'read']);
  pass(1_000);
  expect(await ask('page', 'newest')).toEqual(['newest', 'read']);
  expect(await ask()).toEqual(['newest', 'cached']);
});

it('the last change of a table that keeps changing is not read with every page', async () => {
  await ask();
  changedAt = now;
  for (let i = 0; i < 10; i += 1) await ask();
  expect(questions).toBe(1);
});

it('a page is not cached while an open transaction may still change its table', async () => {
  mark = changedAt - 1; // a transaction began before the last change and is still open
  await ask();
  for (let i = 0; i < 4; i += 1) {
    expect(await ask()).toEqual(['rows', 'read']);
    elapsed += 2_000;
    now += 2_000;
  }
  mark = undefined;
  expect(await ask()).toEqual(['rows', 'read']);
});

it('a table that is not what its entry says has no pages', async () => {
  await askTwice();
  isDeployed = false;
  expect(await ask()).toEqual([undefined, 'cached']);
});

it('pages are read again when the database is restored to an earlier day', async () => {
  await askTwice();
  changedAt -= minute;
  expect(await ask('page', 'earlier')).toEqual(['earlier', 'read']);
});

it('a cached page is read again after ten minutes at the latest', async () => {
  await askTwice();
  pass(9 * minute);
  expect(await ask()).toEqual(['rows', 'cached']);
  pass(2 * minute);
  expect(await ask()).toEqual(['rows', 'read']);
  expect(await ask()).toEqual(['rows', 'cached']);
});

it('the least recently used pages are evicted when the cache is full', async () => {
  const large = 'x'.repeat(1_000_000);
  for (let i = 0; i < 60; i += 1) {
    await ask(`large ${i}`, large);
    await ask(`large ${i}`, large);
  }
  expect(pages.size).toBeLessThanOrEqual(32 * 1_048_576);
  expect(await ask('large 59')).toEqual([large, 'cached']);
  expect((await ask('large 0'))[1]).toBe('read');
});

it('a page that is too large, or has too long a filter, is not cached', async () => {
  const huge = 'x'.repeat(1_100_000);
  for (let i = 0; i < 4; i += 1) expect((await ask('huge', huge))[1]).toBe('read');
  const long = 'x'.repeat(5_000);
  for (let i = 0; i < 4; i += 1) expect((await ask(long))[1]).toBe('read');
  expect(await ask()).toEqual(['rows', 'read']);
  expect(pages.size).toBe(0);
});

it('a page that could not be read is read when it is requested again', async () => {
  await ask();
  expect((await pages.find(table, 'page')).place).toBeDefined(); // and nothing was stored
  expect(await ask()).toEqual(['rows', 'read']);
  expect(await ask()).toEqual(['rows', 'cached']);
});
