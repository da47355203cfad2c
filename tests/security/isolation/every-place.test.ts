// Wherever an identifier can be given, one of another account gets the same answer as one that
// never existed, and nothing changes. Made from docs/openapi.json, so that a new endpoint is tried
// as soon as it is documented.
import type { Api } from '@almanac/api-client/api';
import { openStores, type StoredState, type Stores } from '@almanac/testkit/system/stored-state';
import { givenLocalSystem, type LocalSystem } from '@almanac/testkit/system/system';
import { findPlaces, type Operation, placeName, readOperations } from './operations.ts';
import { kindsAt, unusedDeclarations, withoutBranching } from './places.ts';
import { ask, type Choice, type Form, forms, makeRequest, objectParameters, type RawAnswer } from './requests.ts';
import { type Try, triesOf } from './tries.ts';
import { givenSmallAccount, givenTwins, never, type Owned, type Side, settle, type Twin } from './twins.ts';

type Made = { id: number };

const operations = readOperations();
const places = operations.flatMap(findPlaces);

const withTries = operations
  .map((operation) => ({ operation, name: operation.name, tries: triesOf(operation) }))
  .filter(({ tries }) => tries.length > 0);

describe('every place of the OpenAPI document where an identifier stands', () => {
  it('is declared with what it names', () => {
    const undeclared = places.filter((place) => kindsAt(place) === undefined);
    expect(undeclared.map((place) => `${place.operation.name}: ${placeName(place)}`)).toEqual([]);
  });

  it('is still there when it is declared', () => {
    expect(unusedDeclarations(places)).toEqual([]);
  });
});

describe('an identifier of another account', () => {
  let system: LocalSystem;
  let stores: Stores;
  let victim: Twin;
  let attacker: Twin;
  let small: Side;
  const before = new Map<number, StoredState>();

  beforeAll(async () => {
    system = await givenLocalSystem();
    stores = await openStores(system.home);
    [victim, attacker] = await givenTwins();
    small = await givenSmallAccount(victim.shared.name);
    await settle(stores, [victim, attacker, small]);
    for (const { account } of [victim, attacker]) before.set(account.id, await stores.stateOf(account.id));
  });

  afterAll(async () => {
    await stores?.close();
    await system?.stop();
  });

  // A change is reported once, by the test that made it.
  const expectUnchanged = async ({ account }: Side, leftOut = /^$/) => {
    const [was, is] = [before.get(account.id) as StoredState, await stores.stateOf(account.id)];
    before.set(account.id, is);
    const seen = (state: StoredState) =>
      Object.fromEntries(Object.entries(state).filter(([name]) => !leftOut.test(name)));
    expect(seen(is)).toEqual(seen(was));
  };

  const refused = async (side: Side, caller: Api, { operation, choose }: Try, form: Form) => {
    const [theirs, unknown] = [victim.owned, never].map((whose) => choose(whose, side.owned)) as [Choice[], Choice[]];
    const [answer, toUnknown] = (await Promise.all(
      [theirs, unknown].map((choices) => ask(caller, makeRequest(operation, choices, side.owned, form))),
    )) as [RawAnswer, RawAnswer];
    expect(withoutGiven(answer, theirs)).toEqual(withoutGiven(toUnknown, unknown));
    expect(answer.text).not.toContain(victim.mark);
    return answer;
  };

  describe.each(withTries)('$name', ({ operation, tries }) => {
    // Reads are checked once for all tries, calls that could write after each.
    const afterCalls = operation.method === 'GET' ? afterAll : afterEach;
    afterCalls(async () => {
      await Promise.all([
        expectUnchanged(victim),
        expectUnchanged(attacker, /^billing\.|^identity\.audit_event/), // its own calls are counted, and refusals recorded
      ]);
    });

    it.each(tries)('$name', async (tried) => {
      const side = withoutBranching.has(operation.name) ? small : attacker;
      const choices = tried.choose(victim.owned, side.owned);
      for (const form of choices.some(isNested) ? forms : forms.slice(0, 1)) {
        expectedOf(operation, choices)(await refused(side, side.user, tried, form));
        const toMachine = await refused(side, side.machine, tried, form);
        if (operation.needsUser) expect(toMachine.status).toBe(401);
        else if (ofCreators.has(operation.name)) expect([403, 404]).toContain(toMachine.status);
        else expectedOf(operation, choices)(toMachine);
      }
    });
  });

  // The row of an operation is no parameter: one that is not found is kept with this problem.
  it.each([
    ['update', { record: { name: 'proposed' } }],
    ['delete', {}],
    ['restore', {}],
  ])('of a row in a proposed %s is kept as an unknown one is', async (operation, more) => {
    const { user, owned } = attacker;
    const path = `/change_requests/${owned['change request']}/operations`;
    const propose = async (row: Owned['row']) => {
      const operations = [{ operation, id: row, ...more }];
      const body = { table_definition_id: owned['table definition'], operations };
      const answer = await ask(user, { method: 'POST', path, body });
      const [made] = JSON.parse(answer.text).operations;
      const listed = await user.get<{ operations: Made[] }>(path);
      const shown = listed.operations.find(({ id }) => id === made.id);
      await user.post(`${path}/remove`, { ids: [made.id] });
      const plain = (text: string) =>
        text
          .replace(/"(id|svc_sk|row)":\d+/g, '"$1":"<given>"')
          .replaceAll(`record ${row} `, 'record <given> ')
          .replace(/"[\d-]{10}T[\d:.]+Z"/g, '"<time>"');
      return { ...answer, text: plain(answer.text), shown: plain(JSON.stringify(shown)), problems: made.problems };
    };
    const [{ problems, ...foreign }, unknown] = [await propose(victim.owned.row), await propose(never.row)];
    expect(problems).toEqual([expect.objectContaining({ code: 'not_found', row: victim.owned.row })]);
    expect({ ...foreign, problems: [] }).toEqual({ ...unknown, problems: [] });
    expect(foreign.status).toBe(201);
    expect(foreign.shown).not.toContain(victim.mark);
    await expectUnchanged(victim);
  });

  it('is not charged for any of this', async () => {
    const { data } = await attacker.user.get('/usage?per_page=1000'); // books the calls so far first
    expect(data.reduce((sum: number, { calls }: { calls: number }) => sum + calls, 0)).toBeGreaterThan(
      withTries.length,
    );
    await expectUnchanged(victim);
  });

  // Shows that the tests above can fail: a request refused for another reason would pass them all.
  describe('is refused because it is another account’s: one’s own gets another answer', () => {
    const batch = 'POST /table_data/batch';
    const undo = 'POST /table_data/undo';
    // Other calls end the promotion.
    const decisions = 'POST /promotions/{id}/decisions';
    const endings = /^DELETE|\/(remove|complete|upload_complete|delete_records|regenerate_secret)$/;
    // An undo deletes the row that its request created. Calls that end something come last, those
    // on inner resources before those on outer ones.
    const rank = ({ name, operation }: { name: string; operation: Operation }) =>
      endings.test(name)
        ? 1 / operation.path.length
        : name === batch
          ? 1e-6
          : name === undo
            ? 2e-6
            : name === decisions
              ? -1
              : 0;
    const inOrder = [...withTries].sort((a, b) => rank(a) - rank(b));

    it.each(inOrder)('$name', async ({ operation, name, tries }) => {
      const side = withoutBranching.has(name) ? small : attacker;
      // The last try of a batch names a row that the one before has deleted.
      for (const tried of endings.test(name) ? tries.slice(0, 1) : tries.slice(0, name === batch ? -1 : undefined)) {
        if (withoutOwn.has(`${name} ${tried.name}`)) continue;
        const [own, unknown] = [side.owned, never].map((whose) => tried.choose(whose, side.owned)) as [
          Choice[],
          Choice[],
        ];
        const toUnknown = await ask(side.user, makeRequest(operation, unknown, side.owned));
        const answer = await ask(side.user, makeRequest(operation, own, side.owned));
        const isUnknownField = answer.status === 400 && own.every(({ place }) => place.where === 'filter');
        if (!isUnknownField)
          expect({ tried: tried.name, ...withoutGiven(answer, own) }).not.toEqual({
            tried: tried.name,
            ...withoutGiven(toUnknown, unknown),
          });
      }
    });
  });
});

/**
 * A new table has no column yet that it could show; other people than this user wrote the rows and
 * the requests, and no application did; the promoted table is not deployed on the target.
 */
const withoutOwn = new Set([
  'POST /table_definitions body table_definition.lookup_display_column_id (column definition)',
  'POST /table_definitions all places at once',
  'GET /table_data/activity query application_id (acting application)',
  'GET /table_data/activity query user_id (user)',
  'GET /change_requests filter application_id (acting application)',
  'GET /change_requests filter continues_id (change request)',
  'GET /promotions/{id}/rows query table_definition_id (table definition)',
]);

/** Calls of the person who made the change request, which refuse applications. */
const ofCreators = new Set([
  'POST /change_requests/{id}/operations',
  'POST /change_requests/{id}/operations/where',
  'POST /change_requests/{id}/operations/remove',
  'POST /change_requests/{id}/resolutions',
]);

/** Calls that answer about nothing when they are asked about something unknown. */
const answersNothing: Record<string, object> = {
  'GET /change_requests/{id}/operations query table_definition_id': { operations: [], rowCount: 0 },
  'GET /promotions/{id}/rows query table_definition_id': { rows: [], rowCount: 0 },
  'POST /table_data/position body id': { index: null },
  'GET /search query branch_id': { tables: [], columns: [], change_requests: [] },
  'GET /table_data/search query branch_id': { tables: [], truncated: false },
};

// The sides of a comparison are looked up like parameters.
const isSide = (step: string | undefined) => step === 'left' || step === 'right';
const isNested = ({ place: { where, steps } }: Choice) =>
  where === 'body' &&
  steps.length > 1 &&
  steps[1] !== '[]' &&
  !objectParameters.has(steps[0] as string) &&
  !isSide(steps[0]);

/** The answer without the request's own identifiers, which errors repeat. */
function withoutGiven({ status, text, headers }: RawAnswer, choices: Choice[]) {
  if (status < 400) return { status, headers, text };
  const given = choices.flatMap(({ values }) => values.map(String));
  const named = given.map((value) => value.replace(/[^\w-]/g, '\\$&')).join('|');
  return { status, headers, text: text.replace(new RegExp(`\\b(${named})\\b`, 'g'), '<given>') };
}

/**
 * The answer to an unknown identifier: a parameter that names something is looked up (404), an
 * attribute is checked (422), a list filtered by it is empty.
 */
function expectedOf(operation: Operation, choices: Choice[]): (answer: RawAnswer) => void {
  const isFilter = choices.every(({ place: { where } }) => where === 'filter' || where === 'query');
  if (operation.item && isFilter)
    return ({ status, text }) => {
      if (status !== 404 && !(status === 400 && choices.some(({ place }) => place.where === 'filter')))
        expect({ status, ...JSON.parse(text) }).toMatchObject({ status: 200, data: [], meta: { total_count: 0 } });
    };
  const [place] = choices.map((choice) => choice.place);
  const nothing = choices.length === 1 && answersNothing[`${operation.name} ${place?.where} ${place?.name}`];
  if (nothing)
    return ({ status, text }) => expect({ status, ...JSON.parse(text) }).toMatchObject({ status: 200, ...nothing });
  const expected = choices.every(isNested) ? 422 : 404;
  return ({ status, text }) => expect({ status, text }).toMatchObject({ status: expected });
}
