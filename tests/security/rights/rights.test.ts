// The rights table, tried: a person of every kind calls every operation, in the domain and branch
// of their group and outside them. The status alone shows whether a call is allowed, so no call
// changes anything.
import type { Answer, Api } from '@almanac/api-client/api';
import { eventually } from '@almanac/testkit/eventually';
import { type Case, operations } from '@almanac/testkit/rights/operations';
import { type Cell, expected, type Kind, kinds } from '@almanac/testkit/rights/rules';
import { type Account, givenAccount, mainBranchId } from '@almanac/testkit/system/builders';
import { admin as runAdmin } from '@almanac/testkit/system/system';
import { givenLeaver, givenPeople, type People } from './people.ts';
import type { Probe } from './probes/probe.ts';
import { probes } from './probes/probes.ts';
import { fillWorld, givenOffice, givenTables, type Office, type World } from './world.ts';

const callsAtOnce = 12;

type Trial = { operation: string; case: Case; kind: number; here: boolean };
type Outcome = { trial: string; met: string; expected: string };

let account: Account;
let admin: Api;
let people: People;
let office: Office;
let here: World;
let elsewhere: World;

beforeAll(async () => {
  account = await givenAccount();
  admin = await account.person();
  const branchId = await mainBranchId(admin);
  const other = await admin.post<{ id: number }>('/branches', { name: 'elsewhere', is_protected: true });
  await admin.post('/branches', { name: 'child of elsewhere', parent_branch_id: other.id });
  const [ours, theirs] = await Promise.all([givenTables(admin, branchId), givenTables(admin, other.id)]);
  people = await givenPeople(account, admin, ours);
  [here, elsewhere, office] = await Promise.all([
    fillWorld(ours, people[proposer]?.api as Api),
    fillWorld(theirs, admin),
    givenOffice(admin),
  ]);
});

const titled = (title: string) => kinds.findIndex((kind) => kind.title === title);
/** Proposes the deployment of the first world. */
const proposer = titled('domain Developers');

const cases: [operation: string, Case][] = Object.entries(operations).flatMap(([operation, all]) =>
  all.map((one): [string, Case] => [operation, one]),
);
const nameOf = (operation: string, { when }: Case) => (when === undefined ? operation : `${operation} ${when}`);
const isOpenBranch = ({ when }: Case) => when === 'on any other branch';

/**
 * Tries these cases with people of every kind in both worlds; returns the outcomes that differ from
 * the table.
 */
async function tryCases(chosen: [string, Case][]): Promise<Outcome[]> {
  const trials: Trial[] = chosen.flatMap(([operation, one]) =>
    kinds.flatMap((_, kind) => [true, false].map((isHere) => ({ operation, case: one, kind, here: isHere }))),
  );
  const outcomes: Outcome[] = [];
  const work = async () => {
    for (let trial = trials.pop(); trial; trial = trials.pop()) outcomes.push(await tryOne(trial));
  };
  await Promise.all(Array.from({ length: callsAtOnce }, work));
  return outcomes.filter((outcome) => outcome.met !== outcome.expected);
}

async function tryOne(trial: Trial): Promise<Outcome> {
  const { operation, kind } = trial;
  const probe = probes[nameOf(operation, trial.case)] as Probe;
  const world = trial.here ? here : elsewhere;
  const at = { ...world, ...office };
  const cell = expected(trial.case.rule, kind, trial.here);
  const isAllowed = cell === 'y' || (cell === 'c' && trial.here && kind === proposer);
  const { path, body } = isAllowed && probe.made ? await probe.made(at) : probe.call(at);
  const [method] = operation.split(' ') as [string];
  const answer = await (people[kind] as People[number]).api.send<unknown>(method, path, body);
  return {
    trial: `${nameOf(operation, trial.case)}, ${kinds[kind]?.title}, ${trial.here ? 'here' : 'elsewhere'}`,
    met: describeAnswer(answer, probe, at),
    expected: describeExpected(cell, isAllowed, trial.case, probe),
  };
}

/** A refusal, a list, or the tables that a search finds. */
type Described = {
  error?: string;
  errors?: string[];
  data?: { id: number; table_definition_id?: never }[];
  tables?: { id?: number; table_definition_id?: number }[];
};

function describeAnswer({ status, body }: Answer, probe: Probe, at: World & Office): string {
  const { error, errors, data, tables } = (body ?? {}) as Described;
  if (status === 403) return `403 ${error}${errors?.length === 1 ? '' : ' without one reason'}`;
  if (status === 401) return `401${/authorization code flow/.test(error ?? '') ? ', takes a person' : ` ${error}`}`;
  const items = data ?? tables;
  if (!probe.shows || !items) return String(status);
  return items.some(({ id, table_definition_id }) => (id ?? table_definition_id) === probe.shows?.(at))
    ? `${status}, shown`
    : `${status}, not shown`;
}

function describeExpected(cell: Cell, isAllowed: boolean, { list }: Case, probe: Probe): string {
  if (cell === 'p') return '401, takes a person';
  if (!isAllowed && !list) return '403 Forbidden';
  if (!probe.shows) return String(probe.allowed);
  return isAllowed ? '200, shown' : '200, not shown';
}

describe('the rights table', () => {
  it('has a call for each of its cases', () => {
    expect(Object.keys(probes).toSorted()).toEqual(cases.map(([operation, one]) => nameOf(operation, one)).toSorted());
  });

  it('holds for every kind of caller, everywhere', async () => {
    expect(await tryCases(cases.filter(([, one]) => !isOpenBranch(one) && one.plan === undefined))).toEqual([]);
  });

  it('holds where branches are not protected', async () => {
    for (const { branchId } of [here, elsewhere])
      await admin.patch(`/branches/${branchId}`, { branch: { is_protected: false } });
    expect(await tryCases(cases.filter(([, one]) => isOpenBranch(one)))).toEqual([]);
  });
});

describe('scopes and rights', () => {
  const insufficient = { status: 403, body: { error: 'Insufficient scope. Required: api:admin' } };
  const forbidden = { status: 403, body: { error: 'Forbidden' } };
  const administrative: [string, string][] = [
    ['GET', '/users'],
    ['POST', '/users'],
    ['POST', '/domains'],
    ['POST', '/user_groups'],
    ['GET', '/oauth_applications'],
  ];

  it('are both needed to administer', async () => {
    const withoutScope = await account.person('api:read api:write api:delete');
    const withScope = await account.person('api:admin');
    const withoutRight = people[titled('Developers')]?.api as Api;
    for (const [method, path] of administrative) {
      const send = (api: Api) => api.send(method, path, method === 'GET' ? undefined : {});
      expect(await send(withoutScope)).toMatchObject(insufficient);
      expect(await send(withoutRight)).toMatchObject(forbidden);
      expect((await send(withScope)).status).toBe(method === 'GET' ? 200 : 422);
    }
  });

  it('are both needed to make an administrator', async () => {
    const body = { user_id: office.userId, user_group_id: office.systemGroupId };
    const assign = (api: Api) => api.send<{ id: number }>('POST', '/user_group_assignments', body);
    expect(await assign(await account.person('api:write'))).toMatchObject(insufficient);
    expect(await assign(await account.machine('api:write'))).toMatchObject(insufficient);
    expect(await assign(people[titled('Developers')]?.api as Api)).toMatchObject(forbidden);
    const made = await assign(await account.person('api:write api:admin'));
    expect(made.status).toBe(201);
    const path = `/user_group_assignments/${made.body.id}`;
    expect(await (await account.person('api:delete')).send('DELETE', path)).toMatchObject(insufficient);
    expect((await admin.send('DELETE', path)).status).toBe(204);
  });
});

describe('a right that is taken away', () => {
  it('ends with the event', async () => {
    const viewer = await givenLeaver(account, admin, here, 'view on one table');
    const rows = () => viewer.api.send('GET', `/table_data?table_definition_id=${here.tableId}`);
    expect((await rows()).status).toBe(200);
    await viewer.leave();
    await eventually(async () => expect((await rows()).status).toBe(403));
  });

  it('ends at once for the link to a file', async () => {
    const viewer = await givenLeaver(account, admin, here, 'domain Viewers');
    const show = () => viewer.api.send('GET', `/exports/${here.exportId}`);
    expect(await show()).toMatchObject({ status: 200, body: { download_url: expect.any(String) } });
    await viewer.leave();
    expect((await show()).status).toBe(403);
  });

  it('ends at once for what needs approval', async () => {
    const approver = await givenLeaver(account, admin, here, 'branch Approvers');
    const decide = () => approver.api.send('POST', `/deployments/${here.deploymentId}/reject`);
    expect((await decide()).status).toBe(422); // it is deployed
    await approver.leave();
    expect((await decide()).status).toBe(403);
  });
});

it('every kind has a person, except machines', () => {
  expect(people.map(({ id }) => id !== undefined)).toEqual(kinds.map((kind: Kind) => !kind.machine));
});

// Runs last: the plan is not restored.
describe('the rights table on a plan without branching', () => {
  it('holds for every kind of caller', async () => {
    await runAdmin(['accounts', 'update', String(account.id), '--plan', 'plus']);
    await eventually(async () => expect((await admin.send('GET', '/deployments')).status).toBe(403));
    expect(await tryCases(cases.filter(([, one]) => one.plan === 'without branching'))).toEqual([]);
  });
});
