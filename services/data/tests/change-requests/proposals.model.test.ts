// Random proposals, direct writes and decisions beside plain models: the operations of a request,
// the table as it would be, and what goes along with a decision.
import { randomInt } from 'node:crypto';
import { randomOf } from '@almanac/testkit/random';
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import type { Op } from '../operations.ts';
import { remove } from '../versions.ts';
import { openRequest, operationsOf, propose, setPhase, takeOut } from './requests.ts';

let net: DataNet;
const seed = Number(process.env.PROPOSAL_MODEL_SEED ?? randomInt(1_000_000_000));
const below = randomOf(seed);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;

const code: TableInput['columns'][number] = { name: 'code', length: 5, is_primary_key: true };

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

type Cells = { code?: string; x?: string | null };
type Row = { code: string; x: string | null; isDeleted: boolean };
type Proposal = { kind: string; row: number | null; cells: Cells };

/** A table and a request in memory. */
class Model {
  readonly rows = new Map<number, Row>();
  readonly operations = new Map<number, Proposal>();

  propose(id: number, { kind, row, cells }: Proposal): void {
    const before = this.operations.get(id);
    const merges = kind === 'update' && before?.kind === 'update';
    this.operations.set(id, { kind, row, cells: merges ? { ...before.cells, ...cells } : cells });
  }

  /** The rows as they would be. */
  get through(): unknown[] {
    const byRow = new Map([...this.operations.values()].map((each) => [each.row, each]));
    const there = [...this.rows].map(([id, row]) => {
      const operation = byRow.get(id);
      const { kind, cells = {} } = operation ?? {};
      const isDeleted = kind === 'delete' || (kind !== 'restore' && row.isDeleted);
      const { code: key, x } = { ...row, ...(kind === 'update' && cells) };
      return [id, key, x, isDeleted, kind];
    });
    const made = [...this.operations].flatMap(([id, { kind, cells }]) =>
      kind === 'create' ? [[-id, cells.code, cells.x ?? null, false, kind]] : [],
    );
    return [...made, ...there].sort((a, b) => Number(a[0]) - Number(b[0]));
  }
}

it('the operations of a request, and the rows through it, are those of the model', async () => {
  await deploy(net, [{ id: 10, columns: [code, { name: 'x', length: 9 }] }]);
  const request = await openRequest(net);
  const model = new Model();
  let last = 0;
  const newCode = () => {
    last += 1;
    return `k${last}`;
  };
  const text = () => pick(['a', 'b', null]);
  const some = () => ({ ...(below(4) === 0 && { code: newCode() }), x: text() });

  const writes = {
    async create() {
      const row = { code: newCode(), x: text() };
      model.rows.set((await create(net, 10, row)).svc_sk, { ...row, isDeleted: false });
    },
    async patch() {
      const [id, row] = pick([...model.rows]);
      if (row.isDeleted) return;
      const x = text();
      await net.call('PATCH', `/api/v1/table_data/${id}`, { table_definition_id: 10, record: { x } });
      model.rows.set(id, { ...row, x });
    },
    async remove() {
      const [id, row] = pick([...model.rows]);
      await remove(net.call, 10, [id]);
      model.rows.set(id, { ...row, isDeleted: true });
    },
    async propose() {
      const ids = new Set(Array.from({ length: 1 + below(4) }, () => pick([...model.rows.keys()])));
      const proposals = [...ids].map((row): Proposal => {
        const kind = pick(['create', 'update', 'update', 'delete', 'restore']);
        if (kind === 'create') return { kind, row: null, cells: { code: newCode(), x: text() } };
        return { kind, row, cells: kind === 'update' ? some() : {} };
      });
      const operations = proposals.map(({ kind, row, cells }): Op => {
        const record = kind === 'create' || kind === 'update' ? { record: cells } : {};
        return { operation: kind, ...(row !== null && { id: row }), ...record };
      });
      const answer = await propose(net.call, request, 10, operations);
      expect({ seed, status: answer.status }).toEqual({ seed, status: 201 });
      for (const [i, { id }] of answer.body.operations.entries()) model.propose(id, proposals[i] as Proposal);
    },
    async takeOut() {
      if (model.operations.size === 0) return;
      const id = pick([...model.operations.keys()]);
      await takeOut(net.call, request, [id]);
      model.operations.delete(id);
    },
  };

  for (let i = 0; i < 5; i += 1) await writes.create();
  for (let step = 0; step < 40; step += 1) {
    await writes[pick(['create', 'patch', 'remove', 'propose', 'propose', 'propose', 'takeOut'] as const)]();
    const { body } = await net.call('POST', '/api/v1/table_data/grid', {
      table_definition_id: 10,
      change_request_id: request,
      startRow: 0,
      endRow: 1000,
      include_deleted: true,
    });
    const rows = body.rows.map((row: Op) => [
      row.svc_sk,
      row.code,
      row.x,
      row.svc_is_deleted,
      (row.svc_change as Op | undefined)?.kind,
    ]);
    expect({ seed, step, count: body.rowCount, rows }).toEqual({
      seed,
      step,
      count: model.through.length,
      rows: model.through,
    });
    const found = await operationsOf(net.call, request);
    expect({
      seed,
      step,
      operations: found.map((each: Op) => [each.id, each.kind, each.svc_sk, each.proposed]),
    }).toEqual({
      seed,
      step,
      operations: [...model.operations]
        .sort(([a], [b]) => a - b)
        .map(([id, { kind, row, cells }]) => [id, kind, row, kind === 'create' || kind === 'update' ? cells : null]),
    });
  }
});

type Decided = 'undecided' | 'accepted' | 'rejected' | 'returned';

it('decisions take along what the model says', async () => {
  await deploy(net, [{ id: 20, columns: [code, { name: 'up', length: 5, foreign_key_table_id: 20 }] }]);
  net.rights.set(81, {
    license_type: 'developer',
    permissions: [{ action: 'approve', resource_type: 'branch', resource_id: 1 }],
  });
  await create(net, 20, { code: 'root' });
  const request = await openRequest(net);
  const ups = Array.from({ length: 25 }, () => pick([null, 'root', below(25), below(25), below(25)]));
  const records = ups.map((up, i) => ({ code: `n${i}`, up: typeof up === 'number' ? `n${up}` : up }));
  const made = await propose(
    net.call,
    request,
    20,
    records.map((record) => ({ operation: 'create', record })),
  );
  const ids: number[] = made.body.operations.map(({ id }: { id: number }) => id);
  await setPhase(net, request, 'review');
  const state: Decided[] = ids.map(() => 'undecided');
  const decided = { accept: 'accepted', reject: 'rejected', return: 'returned', undecided: 'undecided' } as const;
  const reached = (from: number[], next: (place: number) => number[]) => {
    const seen = new Set(from);
    for (const place of seen) for (const each of next(place)) seen.add(each);
    return [...seen].filter((place) => !from.includes(place));
  };
  const needs = (place: number) => (typeof ups[place] === 'number' ? [ups[place]] : []);
  const needed = (place: number) => ups.flatMap((up, i) => (up === place ? [i] : []));
  for (let step = 0; step < 25; step += 1) {
    const verb = pick(['accept', 'accept', 'reject', 'return', 'undecided'] as const);
    const places = [...new Set([below(25), below(25)])];
    const isUpwards = verb === 'accept' || verb === 'undecided';
    const goes = (place: number) => {
      if (verb === 'accept') return state[place] !== 'accepted';
      const isOut = state[place] === 'rejected' || state[place] === 'returned';
      return verb === 'undecided' ? isOut : !isOut;
    };
    const also = reached(places, isUpwards ? needs : needed).filter(goes);
    const answer = await net.as({ userId: 81 })('POST', `/api/v1/change_requests/${request}/decisions`, {
      decisions: [{ operation_ids: places.map((place) => ids[place]), decision: verb }],
    });
    for (const place of [...places, ...also]) state[place] = decided[verb];
    const found = await operationsOf(net.call, request);
    const named = answer.body.also.map((each: { operation_id: number }) => ids.indexOf(each.operation_id));
    expect({ seed, step, verb, also: named, state: found.map((each: Op) => each.decision) }).toEqual({
      seed,
      step,
      verb,
      also: also.toSorted((a, b) => a - b),
      state,
    });
  }
});
