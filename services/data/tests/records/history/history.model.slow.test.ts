// Random work on a table and on a naive model: after any operation every earlier instant reads as
// it was. HISTORY_MODEL_OPERATIONS: their number (1,000); HISTORY_MODEL_SEED: repeats a run;
// HISTORY_MODEL_EVERY=1: reads every instant each time.
import { randomOf } from '@almanac/testkit/random';
import { load } from '../../files.ts';
import { create, type DataNet, deploy, failureOf, givenData } from '../../given.ts';
import { gaps, patch, remove, restore, revert, rowsAsOf, versionsOf } from '../../versions.ts';
import {
  codeLineage,
  HistoryModel,
  last,
  type ModelColumn,
  type ModelRow,
  nameLineage,
  refLineage,
  targets,
  type Value,
} from './history-model.ts';

const operations = Number(process.env.HISTORY_MODEL_OPERATIONS ?? 1_000);
const seed = Number(process.env.HISTORY_MODEL_SEED ?? Date.now() % 1_000_000);
const asksEvery = process.env.HISTORY_MODEL_EVERY === '1';
const rowsMaximum = 120;
const table = 10;
const parents = 1;

let net: DataNet;
let call: DataNet['call'];

beforeAll(async () => {
  net = await givenData();
  call = net.as({ applicationId: 9 });
  await deploy(net, [{ id: parents, columns: [{ name: 'id', length: 5, is_primary_key: true }] }]);
  for (const id of targets) await create(net, parents, { id });
});

afterAll(() => net.stop());

class Run {
  readonly model = new HistoryModel();
  readonly random = randomOf(seed);
  private lastLineage = refLineage;
  private deployments = 0;

  private pick<T>(list: readonly T[]): T {
    return list[this.random(list.length)] as T;
  }

  private several(rows: ModelRow[]): ModelRow[] {
    return Array.from({ length: 1 + this.random(4) }, () => this.pick(rows)).filter(
      (row, i, all) => all.indexOf(row) === i,
    );
  }

  private value(column: ModelColumn): Value {
    switch (column.lineage) {
      case codeLineage:
        return `c${this.random(25)}`;
      case nameLineage:
        return this.random(30) === 0 ? null : `name ${this.random(5)}`;
      case refLineage:
        return this.pick([...targets, ...targets, null, null, 'PX']);
    }
    if (this.random(4) === 0) return null;
    if (column.kind === 'integer') return this.random(2_000) - 1_000;
    return String(this.pick(['word', 'w', this.random(999), -this.random(99)])).slice(0, column.length);
  }

  private values(columns = this.model.columns): Map<number, Value> {
    return new Map(columns.map((column) => [column.lineage, this.value(column)]));
  }

  private record(values: Map<number, Value>): Record<string, Value> {
    const named = this.model.columns.filter(({ lineage }) => values.has(lineage));
    return Object.fromEntries(named.map(({ name, lineage }) => [name, values.get(lineage) as Value]));
  }

  /** Does an operation on both, and compares the answer of the service with the model. */
  async step(): Promise<void> {
    const { rows } = this.model;
    const kinds = ['create', 'create', 'create', 'update', 'update', 'update', 'delete', 'restore', 'revert', 'import'];
    const kind = rows.length < 3 ? 'create' : this.random(50) === 0 ? 'deploy' : this.pick(kinds);
    await this[kind as 'create' | 'update' | 'delete' | 'restore' | 'revert' | 'import' | 'deploy']();
    await this.observe();
  }

  async create() {
    if (this.model.rows.length >= rowsMaximum) return this.update();
    const values = this.values();
    const { status } = await call('POST', '/api/v1/table_data', {
      table_definition_id: table,
      record: this.record(values),
    });
    expect(status).toBe(this.model.create(values) ? 201 : 422);
  }

  async update() {
    const row = this.pick(this.model.rows);
    const columns = this.model.columns.filter((column) => column.lineage !== codeLineage || this.random(8) === 0);
    const values = this.values(columns.filter(() => this.random(2) === 0));
    if (values.size === 0) return;
    const { status } = await patch(call, table, row.sk as number, this.record(values));
    // The problems of values are answered only for a row that exists.
    if (last(row).deleted) expect(status).toBe(404);
    else expect(status).toBe(this.model.update(row, values) ? 200 : 422);
  }

  async delete() {
    const rows = this.several(this.model.rows);
    const { body } = await remove(
      call,
      table,
      rows.map((row) => row.sk as number),
    );
    expect(body.deleted_count).toBe(this.model.delete(rows));
  }

  async restore() {
    const rows = this.several(this.model.rows);
    const { status, body } = await restore(
      call,
      table,
      rows.map((row) => row.sk as number),
    );
    const restored = this.model.restore(rows);
    if (restored === false) expect(status).toBe(422);
    else expect([status, body.restored_count]).toEqual([200, restored]);
  }

  async revert() {
    const row = this.pick(this.model.rows);
    const number = 1 + this.random(row.versions.length);
    const { status } = await revert(call, table, row.sk as number, number);
    expect(status).toBe(this.model.revert(row, number) ? 200 : 422);
  }

  async import() {
    const live = this.model.live().map((row) => last(row).values.get(codeLineage) as string);
    const fresh =
      this.model.rows.length < rowsMaximum ? Array.from({ length: 5 }, (_, i) => `i${this.random(20) + i}`) : [];
    const codes = [...new Set([...live.filter(() => this.random(3) > 0), ...fresh])];
    const pattern = this.pick(['full', 'incremental', 'incremental_with_delete']);
    const deletions = pattern === 'incremental_with_delete' ? codes.filter(() => this.random(4) === 0) : [];
    const lines = codes
      .filter((code) => !deletions.includes(code))
      .map((code) => {
        const known = this.model.live().find((row) => last(row).values.get(codeLineage) === code);
        const made = this.values()
          .set(codeLineage, code)
          .set(nameLineage, `file ${this.random(3)}`);
        if (made.get(refLineage) === 'PX') made.set(refLineage, null);
        return known && this.random(2) === 0 ? new Map(last(known).values) : made;
      });
    if (lines.length === 0) return;
    const cell = (value: Value | undefined) => (value === null || value === undefined ? '' : String(value));
    const { columns } = this.model;
    const csv = [
      ...lines.map((line) => [...columns.map(({ lineage }) => cell(line.get(lineage))), 'u']),
      ...deletions.map((code) => [...columns.map(({ lineage }) => (lineage === codeLineage ? code : '')), 'd']),
    ];
    const result = await load(net, table, csv.map((cells) => `${cells.join(',')}\n`).join(''), {
      file_columns: [...columns.map(({ name }) => name), 'svc_transaction_code'],
      columns: [
        ...columns.map(({ name }, position) => ({ position, target_column: name, date_format: '' })),
        ...(pattern === 'incremental_with_delete'
          ? [{ position: columns.length, target_column: 'svc_transaction_code', date_format: '' }]
          : []),
      ],
      pattern,
      allow_mass_delete: true,
    });
    expect(result).toMatchObject({ status: 'completed', ...this.model.import(lines, deletions, pattern === 'full') });
  }

  async deploy() {
    const extra = this.model.columns.filter(({ lineage }) => lineage > refLineage);
    const kind = extra.length === 0 ? 'add' : this.pick(['add', 'drop', 'rename', 'retype', 'retype', 'shorten']);
    const column = extra.length === 0 ? undefined : this.pick(extra);
    if (kind === 'add' || !column) {
      this.lastLineage += 1;
      const added = { lineage: this.lastLineage, name: `x${this.lastLineage}` };
      this.model.addColumn(
        this.random(2) === 0 ? { ...added, kind: 'integer' } : { ...added, kind: 'string', length: 20 },
      );
      return this.apply();
    }
    if (kind === 'drop') {
      this.model.dropColumn(column);
      return this.apply();
    }
    if (kind === 'rename') {
      column.name = `y${column.lineage}_${this.deployments}`;
      return this.apply();
    }
    const wanted: Pick<ModelColumn, 'kind' | 'length'> =
      kind === 'shorten' && column.kind === 'string'
        ? { kind: 'string', length: 2 + this.random(3) }
        : column.kind === 'integer'
          ? { kind: 'string', length: 20 }
          : { kind: 'integer' };
    const before = { ...column };
    if (this.model.retype(column, wanted)) return this.apply();
    Object.assign(column, wanted, { length: wanted.length });
    const refused = await failureOf(this.apply());
    expect(refused.kind).toBe('validation_failed');
    Object.assign(column, before);
  }

  apply() {
    this.deployments += 1;
    return deploy(net, [
      {
        id: table,
        version: this.deployments,
        columns: this.model.columns.map(({ lineage, name, kind, length, required }) => ({
          name,
          data_type: kind,
          ...(length === undefined ? {} : { length }),
          lineage_id: table * 1000 + lineage,
          is_primary_key: lineage === codeLineage,
          is_required: required ?? false,
          ...(lineage === refLineage ? { foreign_key_table_id: parents } : {}),
        })),
      },
    ]);
  }

  // The present rows must equal the model's; it takes their times, and the ids of new rows, from
  // them.
  private async observe(): Promise<void> {
    const path = `/api/v1/table_data?table_definition_id=${table}&include_deleted=true&sort=svc_sk&per_page=1000`;
    const { data } = (await call('GET', path)).body;
    const known = new Set(this.model.rows.map((row) => row.sk));
    const unknown = new Map(
      data
        .filter((row: { svc_sk: number }) => !known.has(row.svc_sk))
        .map((row: { code: string; svc_sk: number }) => [row.code, row.svc_sk]),
    );
    const bySk = new Map<number, { svc_updated_at: string }>(data.map((row: { svc_sk: number }) => [row.svc_sk, row]));
    for (const row of this.model.rows) {
      row.sk ??= unknown.get(last(row).values.get(codeLineage)) as number;
      last(row).from ??= bySk.get(row.sk)?.svc_updated_at;
    }
    this.model.rows.sort((a, b) => (a.sk as number) - (b.sk as number));
    expect(data).toEqual(this.model.rows.map((row) => this.model.show(row, row.versions.length)));
  }

  /**
   * Reads every instant of the last hundred changes and some before them, and the versions of some
   * rows.
   */
  async lookBack(every: boolean): Promise<number> {
    const instants = this.model.instants();
    const older = instants.slice(0, -100);
    const asked = every ? instants : [...instants.slice(-100), ...older.filter(() => this.random(older.length) < 60)];
    const justBefore = asked
      .filter(() => this.random(10) === 0)
      .map((at) => new Date(Date.parse(at) - 1).toISOString());
    const waiting = [...asked, ...justBefore];
    const ask = async () => {
      for (let at = waiting.pop(); at !== undefined; at = waiting.pop())
        expect({ at, rows: await rowsAsOf(call, table, at) }).toEqual({ at, rows: this.model.asOf(at) });
    };
    const total = waiting.length;
    await Promise.all([ask(), ask(), ask(), ask()]);
    for (let n = 0; n < 5; n += 1) await this.compareVersions(this.pick(this.model.rows));
    expect(await gaps(net, table)).toEqual([]);
    return total;
  }

  private async compareVersions(row: ModelRow): Promise<void> {
    const expected = row.versions.map(({ from, action, channel }, i) => ({
      svc_version: i + 1,
      valid_from: from,
      valid_to: row.versions[i + 1]?.from ?? null,
      action,
      channel,
      application_id: 9,
      user_id: null,
      change_request: null,
      changed_columns: this.model.changed(row, i + 1),
      record: this.model.show(row, i + 1),
    }));
    const found = await versionsOf(call, table, row.sk as number);
    expect(found.map(({ request_id, ...rest }) => rest)).toEqual(expected.reverse());
    expect(found.every(({ request_id }) => typeof request_id === 'string')).toBe(true);
  }
}

it(
  `equals a naive model after ${operations} random operations (seed ${seed})`,
  async () => {
    console.log(`HISTORY_MODEL_SEED=${seed} HISTORY_MODEL_OPERATIONS=${operations}`);
    const run = new Run();
    await run.apply();
    for (let n = 1; n <= operations; n += 1) {
      await run.step();
      if (n % 100 === 0) await run.lookBack(asksEvery || n === operations);
    }
    expect(run.model.instants().length).toBeGreaterThan(operations / 4);
  },
  operations * 400 + 600_000,
);
