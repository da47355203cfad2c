// Random histories of definitions on two branches, with the real data service: promoting does
// exactly what its rehearsal answered, deploying the outcome meets the blockers of the rehearsal,
// and of the source only resolved conflicts are lost. PROMOTION_SEED repeats a run;
// PROMOTION_HISTORIES: how many (3).
import { createTestKeys } from '@almanac/testkit/calls/keys';
import fc from 'fast-check';
import { type Answer, keyColumn, type Metadata, startMetadata } from '../../given.ts';
import { givenWork, type Work } from '../../promotion-given.ts';
import { type RealData, startRealData } from '../../real-data.ts';
import {
  type Branch,
  type Column,
  doEdit,
  type Edit,
  history,
  readBranch,
  type Table,
  Tokens,
} from './definition-histories.ts';

const seed = Number(process.env.PROMOTION_SEED ?? Date.now() % 1_000_000);
const histories = Number(process.env.PROMOTION_HISTORIES ?? 3);

let metadata: Metadata;
let data: RealData;

beforeAll(async () => {
  const keys = await createTestKeys();
  data = await startRealData(keys);
  metadata = await startMetadata({}, { keys, address: data.address });
});
afterAll(async () => {
  await metadata.stop();
  await data.stop();
});

type Diff = Answer['body'];
type Conflict = { table: string; column: string | null; attribute: string; resolution: string | null };
type Start = { work: Work; tokens: Tokens; domains: number[]; base: Branch };

/** Three tables in service on `main`, with a row each, and their clones on the other branch. */
async function begin(): Promise<Start> {
  const work = await givenWork(metadata);
  const { account, admin } = work;
  const tokens = new Tokens();
  const first = await work.table('Alpha', [keyColumn, { name: 'alpha', data_type: 'string', length: 40 }]);
  const second = await work.table('Beta', [
    keyColumn,
    { name: 'parent', data_type: 'string', length: 10, foreign_key_table_id: first.id },
    { name: 'beta', data_type: 'integer' },
  ]);
  const third = await work.table('Gamma', [keyColumn, { name: 'gamma', data_type: 'text' }]);
  const ids = [first.id, second.id, third.id];
  await deployed(work, account.mainId, ids);
  await data.create(account.id, first.id, { code: 'A', alpha: '1' });
  await data.create(account.id, second.id, { code: 'A', parent: 'A', beta: 1 });
  await data.create(account.id, third.id, { code: 'A', gamma: '1' });
  const main = await readBranch(work, tokens, account.mainId);
  for (const id of ids) await work.clone(id);
  const base = await readBranch(work, tokens, work.featureId, main);
  const other = await admin.post('/domains', { name: 'Law' });
  return { work, tokens, domains: [account.domainId, other.id], base };
}

async function deployed(work: Work, branch_id: number, table_definition_ids: number[]): Promise<void> {
  const { id } = await work.admin.post('/deployments', { branch_id, table_definition_ids });
  await work.admin.post(`/deployments/${id}/deploy`);
}

const propose = (work: Work, from_branch_id: number, to_branch_id: number, table_definition_ids: number[]) =>
  work.admin.post('/promotions', { from_branch_id, to_branch_id, table_definition_ids });

// New definitions have other ids than in the rehearsal, which was rolled back.
const said = (violations: { table: string; message: string; rows: number }[]) =>
  violations.map(({ table, message, rows }) => `${table}: ${message.replace(/\(\d+\)/g, '(id)')} ${rows}`).sort();

/** How many histories had which outcome: those that are refused early prove little. */
const ends: Record<string, number> = {};

async function run(edits: Edit[], decisions: boolean[]): Promise<string> {
  const { work, tokens, domains, base } = await begin();
  const { featureId, admin } = work;
  const { mainId } = work.account;
  for (const edit of edits) await doEdit(work, tokens, edit, domains);
  const source = await readBranch(work, tokens, featureId);
  const before = await readBranch(work, tokens, mainId);
  const ids = [...new Set([...base.values(), ...source.values()].map(({ id }) => id))];

  const proposed = await propose(work, featureId, mainId, ids);
  const resolutions = (proposed.conflicts as Conflict[]).map(({ table, column, attribute }, i) => {
    const resolution = decisions[i % decisions.length] ? 'source' : 'target';
    return { table, column, attribute, resolution };
  });
  const rehearsal = await admin.post(`/promotions/${proposed.id}/rehearse`, { resolutions });
  expect(await readBranch(work, tokens, mainId)).toEqual(before);
  const blocked = rehearsal.diffs.flatMap(({ name, blockers }: Diff) =>
    blockers.map(({ message }: { message: string }) => `${name}: ${message}`),
  );
  const answer = await admin.send('POST', `/promotions/${proposed.id}/promote`, { resolutions });
  if (blocked.length > 0) {
    expect(answer).toMatchObject({ status: 422, body: { errors: blocked } });
    expect(await readBranch(work, tokens, mainId)).toEqual(before);
    return 'promotion blocked';
  }
  expect([answer.status, answer.body.errors]).toEqual([200, undefined]);
  expect(answer.body.diffs).toEqual(rehearsal.diffs);
  expect(answer.body.conflicts).toEqual(rehearsal.conflicts);

  const after = await readBranch(work, tokens, mainId, source);
  expectDiffs(before, after, rehearsal.diffs);
  expectSourceTaken({ base, source, before, after }, rehearsal.conflicts);

  // Deploying the outcome meets the blockers of the rehearsal.
  const outcome = [...after.values()].map(({ id }) => id);
  const deployment = await admin.post('/deployments', { branch_id: mainId, table_definition_ids: outcome });
  const { violations } = await admin.post(`/deployments/${deployment.id}/rehearse`, {});
  expect(said(violations)).toEqual(said(rehearsal.violations));
  const end = await admin.send('POST', `/deployments/${deployment.id}/deploy`, {});
  expect([end.status, violations.length > 0]).toEqual(violations.length > 0 ? [422, true] : [200, false]);

  // In the other direction there is no conflict, and then both branches are equal: drafts and
  // deployed tables.
  const back = await propose(work, mainId, featureId, outcome);
  expect(back.conflicts).toEqual([]);
  expect(await admin.send('POST', `/promotions/${back.id}/promote`, {})).toMatchObject({ status: 200 });
  const there = await readBranch(work, tokens, featureId, after);
  expect(compared(there)).toEqual(compared(after));
  if (violations.length > 0) return 'deployment blocked';
  await deployed(
    work,
    featureId,
    [...there.values()].map(({ id }) => id),
  );
  const [here, copy] = [await inService(work, mainId, after), await inService(work, featureId, there)];
  expect(copy).toEqual(here);
  return rehearsal.conflicts.length > 0 ? 'deployed with conflicts' : 'deployed';
}

const compared = (branch: Branch) =>
  [...branch.values()]
    .map(({ key, values, shown, columns }) => ({
      key,
      values,
      shown,
      columns: columns.map(({ id: _id, ...own }) => own),
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));

/** The deployed tables of a branch, by names instead of ids. */
async function inService(work: Work, branchId: number, drafts: Branch): Promise<unknown[]> {
  const { data: tables } = await work.admin.get(`/deployed_table_definitions?branch_id=${branchId}&sort=key`);
  const keys = new Map([...drafts.values()].map(({ id, key }) => [id, key]));
  return tables
    .filter(({ id }: Table) => keys.has(id))
    .map((table: Answer['body']) => ({
      name: table.name,
      description: table.description,
      domain_id: table.domain_id,
      load_type: table.load_type,
      columns: table.column_definitions.map(({ id, foreign_key_table_id: target, ...column }: Answer['body']) => ({
        ...column,
        is_shown: id === table.lookup_display_column_id,
        refers_to: target === null ? null : keys.get(target),
      })),
    }))
    .sort((a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1));
}

/** Applies the diffs to the branch before, which must give the branch after. */
function expectDiffs(before: Branch, after: Branch, diffs: Diff[]): void {
  const named = new Map(diffs.map((diff: Diff) => [diff.key, diff]));
  for (const [key, table] of before) if (!named.has(key)) expect(after.get(key)).toEqual(table);
  for (const [key, diff] of named) {
    const [was, is] = [before.get(key), after.get(key)];
    if (diff.change === 'deleted' || !is) {
      expect([key, diff.change, is]).toEqual([key, was ? 'deleted' : 'unchanged', undefined]);
      continue;
    }
    expect([key, diff.change === 'new']).toEqual([key, was === undefined]);
    const own = diff.attributes.filter(({ name }: Diff) => !['lookup_display_column', 'column_order'].includes(name));
    expect(patched(was?.values ?? { description: null }, own)).toEqual(is.values);
    const present = diff.columns.filter(({ change }: Diff) => change !== 'deleted');
    expect(present.map(({ name }: Diff) => name)).toEqual(is.columns.map(({ name }) => name));
    for (const [i, { change, attributes }] of present.entries()) {
      const { id: _id, token, ...values } = is.columns[i] as Column & { id: number };
      const {
        id: _old,
        token: _same,
        ...old
      } = (was?.columns.find((column) => column.token === token) ?? unset) as Column & { id: number };
      expect([token, change === 'new']).toEqual([token, !was?.columns.some((column) => column.token === token)]);
      expect(patched(old, attributes)).toEqual(values);
      expect([token, change === 'unchanged']).toEqual([token, change !== 'new' && attributes.length === 0]);
    }
    const missing = was?.columns.filter(({ token }) => !is.columns.some((column) => column.token === token)) ?? [];
    const deleted = diff.columns.filter(({ change }: Diff) => change === 'deleted');
    expect(deleted.map(({ name }: Diff) => name)).toEqual(missing.map(({ name }) => name));
  }
}

const unset = {
  length: null,
  scale: null,
  is_primary_key: false,
  is_required: false,
  foreign_key_table_key: null,
  valid_values: [],
  description: null,
};

function patched(values: object, changes: { name: string; from: unknown; to: unknown }[]): object {
  return { ...values, ...Object.fromEntries(changes.map(({ name, to }) => [name, to])) };
}

type Sides = { base: Branch; source: Branch; before: Branch; after: Branch };

/**
 * The target equals the source, except where a conflict was resolved for the target, and where the
 * target alone has changed since the base.
 */
function expectSourceTaken({ base, source, before, after }: Sides, conflicts: Conflict[]): void {
  const isKept = (table: string, column: string | null, attribute: string) =>
    conflicts.some(
      (each) =>
        each.table === table && each.column === column && each.attribute === attribute && each.resolution === 'target',
    );
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  for (const [key, theirs] of source) {
    const [was, old, is] = [base.get(key), before.get(key), after.get(key)];
    if (!is) throw new Error(`${key} has not come to the target`);
    for (const attribute of Object.keys(theirs.values)) {
      const mayDiffer =
        isKept(key, null, attribute) || (was && isSame(was.values[attribute], theirs.values[attribute]));
      const expected = mayDiffer ? (old ?? theirs).values[attribute] : theirs.values[attribute];
      expect([key, attribute, is.values[attribute]]).toEqual([key, attribute, expected]);
    }
    for (const column of theirs.columns) {
      const find = (table: Table | undefined) => table?.columns.find(({ token }) => token === column.token);
      const [first, target, now] = [find(was), find(old), find(is)];
      if (!now) {
        // Deleted on the target: it was unchanged on the source, or the conflict was resolved so.
        const isUntouched = first !== undefined && isSame({ ...first, id: 0 }, { ...column, id: 0 });
        expect([key, column.name, isUntouched || isKept(key, column.name, 'exists')]).toEqual([key, column.name, true]);
        continue;
      }
      for (const attribute of Object.keys(unset).concat('name', 'data_type')) {
        if (attribute === 'is_required' && now.is_primary_key) continue; // a key column always is
        const kept = target && isKept(key, target.name, attribute);
        const untouched = target && first && isSame(first[attribute], column[attribute]);
        const expected = kept || untouched ? target[attribute] : column[attribute];
        expect([key, column.name, attribute, now[attribute]]).toEqual([key, column.name, attribute, expected]);
      }
    }
  }
}

it(
  `promoting does what its rehearsal said, and loses nothing, in ${histories} random histories (seed ${seed})`,
  async () => {
    console.log(`PROMOTION_SEED=${seed} PROMOTION_HISTORIES=${histories}`);
    const decisions = fc.array(fc.boolean(), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(history, decisions, async (edits, each) => {
        const end = await run(edits, each);
        ends[end] = (ends[end] ?? 0) + 1;
      }),
      { seed, numRuns: histories, endOnFailure: true },
    );
    console.log(ends);
  },
  180_000 * Math.max(3, histories),
);
