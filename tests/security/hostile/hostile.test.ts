// Hostile input at the edge: tokens, HTTP itself, bodies and parameters. Each row is a class of
// similar inputs; the same things hold after every answer and every row (faults.ts, world.ts). A
// new case is a line in one of the tables.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@almanac/testkit/eventually';
import { bearerRows } from './bearer.ts';
import { bodyRows } from './bodies.ts';
import { everyBodyRows } from './every-body.ts';
import { faultsOf } from './faults.ts';
import { framingRows } from './framing.ts';
import { parameterRows } from './parameters.ts';
import { pathRows } from './paths.ts';
import type { Case, Row } from './rows.ts';
import { scopeRows } from './scopes.ts';
import { type Answer, exchange } from './wire.ts';
import { givenWorld, type World } from './world.ts';

const groups: [string, Row[]][] = [
  ['a bearer token', [...bearerRows, ...scopeRows]],
  ['HTTP itself', [...framingRows, ...pathRows]],
  ['a body', [...bodyRows, ...everyBodyRows]],
  ['a parameter', parameterRows],
];

let world: World;

beforeAll(async () => {
  world = await givenWorld();
});
afterAll(() => world?.end());

describe.each(groups)('%s', (_group, rows) => {
  it.each(rows.map((row) => [row.id, row.what, row] as const))('%s %s', async (_id, _what, row) => {
    const cases = await row.cases(world);
    expect(cases.length).toBeGreaterThan(0);
    const booked = row.free ? await world.bookedCalls() : 0;
    await world.begin();
    const surprises: unknown[] = [];
    for (const tried of cases) {
      const faults = faultsOf(tried, await ask(tried));
      if (faults.length > 0) surprises.push({ tried: tried.name, faults });
    }
    expect(surprises).toEqual([]);
    if (row.free) expect(await world.bookedCalls()).toBe(booked + 1); // the count before the row
    await row.after?.(world);
    await world.expectUnharmed(row.writes === true);
  });
});

// U8. Which calls are recorded, and how often, the gateway's tests of the audit log show.
it('every refusal for a missing scope or right is in the audit log', async () => {
  const path = '/audit_events?q=action:eq:access.refused&per_page=1000';
  type Entry = { result: string; after: { method: string } };
  await eventually(async () => {
    const { data } = await world.api.get<{ data: Entry[] }>(path);
    expect(new Set(data.map(({ after }) => after.method))).toEqual(new Set(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']));
    for (const { result } of data) expect(result).toBe('refused');
  });
});

const mostTries = 100;

// A throttled account waits as Retry-After says; throttling isn't what these tests try.
async function ask(tried: Case): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await exchange(tried.bytes);
    const isThrottled = answer.status === 429 && answer.body.includes('Too many requests');
    if (!isThrottled || tries === mostTries) return answer;
    await sleep(1_000 * Number(answer.headers['retry-after'] ?? 1));
  }
}
