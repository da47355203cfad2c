// A table to which random things happen: rows are written one by one, in batches and from files;
// keys change and are used again; rows are deleted, restored and reverted; columns are cast,
// dropped and added; rows are promoted from a branch.
import type { Api } from '@almanac/api-client/api';
import {
  type Column,
  type DeployedTable,
  deployTable,
  givenDeployedTable,
  importFile,
  unique,
} from '@almanac/testkit/system/builders';

type Row = { svc_sk: number; svc_version: number; code: string; part: number };
type Random = (below: number) => number;

export const columns: Column[] = [
  { name: 'code', data_type: 'string', length: 10, is_primary_key: true },
  { name: 'part', data_type: 'integer', is_primary_key: true },
  { name: 'name', data_type: 'string', length: 20 },
  { name: 'amount', data_type: 'decimal', length: 10, scale: 2 },
  { name: 'note', data_type: 'string', length: 50 },
];

const texts = ['', ' ', 'a', 'ein längerer Name, mit "Komma"', '007', 'null', 'x\ny', '🏔', 'tab\there'];

export class Source {
  readonly table: DeployedTable;
  private readonly api: Api;
  private readonly random: Random;
  /** The branches whose table has the same columns, the source's own first. */
  private readonly twins: DeployedTable[];
  private nameLength = 20;
  private scale = 2;
  private hasNote = true;

  private constructor(api: Api, random: Random, table: DeployedTable, twin: DeployedTable) {
    this.api = api;
    this.random = random;
    this.table = table;
    this.twins = [table, twin];
  }

  /** The table on `main`, and another one without rows on a branch, whose columns stay the same. */
  static async create(api: Api, random: Random): Promise<{ source: Source; twin: DeployedTable }> {
    const table = await givenDeployedTable(api, { columns });
    const twin = await cloneTable(api, table, false);
    return { source: new Source(api, random, table, twin), twin };
  }

  private pick = <T>(list: readonly T[]): T => list[this.random(list.length)] as T;

  private key = () => ({ code: this.pick(['a', 'b', 'c', 'd', 'É']), part: this.random(3) });

  private values = () => ({
    name: this.random(5) === 0 ? null : [...this.pick(texts)].slice(0, this.nameLength).join(''),
    amount:
      this.random(5) === 0
        ? null
        : `${this.random(2_000) - 1_000}${this.scale > 0 ? '.' : ''}${String(this.random(100)).padStart(2, '0').slice(0, this.scale)}`,
    ...(this.hasNote && { note: this.random(2) === 0 ? null : this.pick(texts).slice(0, 20) }),
  });

  /** A call may be refused, but must not fail. */
  private async call(method: string, path: string, body?: object): Promise<void> {
    const answer = await this.api.send(method, path, body);
    if (answer.status >= 500)
      throw new Error(`${method} ${path} answered ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async rows(deleted = false): Promise<Row[]> {
    const query = `table_definition_id=${this.table.id}&per_page=1000${deleted ? '&include_deleted=true&q=svc_is_deleted:eq:true' : ''}`;
    return (await this.api.get<{ data: Row[] }>(`/table_data?${query}`)).data;
  }

  private readonly rowActions: Record<string, () => Promise<void>> = {
    create: () => this.write('POST', '', { ...this.key(), ...this.values() }),
    change: () => this.some((row) => this.write('PATCH', `/${row.svc_sk}`, this.values())),
    'change a key': () => this.some((row) => this.write('PATCH', `/${row.svc_sk}`, this.key())),
    delete: () => this.some((row) => this.delete(row)),
    'delete and create': () =>
      this.some(async (row) => {
        await this.delete(row);
        await this.write('POST', '', { code: row.code, part: row.part, ...this.values() });
      }),
    'exchange keys': async () => {
      const [a, b] = (await this.rows()).toSorted(() => this.random(3) - 1);
      if (!a || !b) return;
      const [first, second] = [
        { code: a.code, part: a.part },
        { code: b.code, part: b.part },
      ];
      await this.write('PATCH', `/${a.svc_sk}`, { code: 'between', part: 0 });
      await this.write('PATCH', `/${b.svc_sk}`, first);
      await this.write('PATCH', `/${a.svc_sk}`, second);
    },
    restore: async () => {
      const deletedRows = await this.rows(true);
      if (deletedRows.length > 0)
        await this.call('POST', '/table_data/restore_records', this.named([this.pick(deletedRows).svc_sk]));
    },
    revert: () =>
      this.some((row) =>
        this.call('POST', `/table_data/${row.svc_sk}/revert`, {
          table_definition_id: this.table.id,
          version: 1 + this.random(row.svc_version),
        }),
      ),
    batch: async () => {
      const rows = await this.rows();
      const operations = rows
        .slice(0, 4)
        .map(({ svc_sk: id }) =>
          this.random(2) === 0
            ? { operation: 'delete', id }
            : { operation: 'update', id, record: this.random(3) === 0 ? this.key() : this.values() },
        );
      const created = { operation: 'create', record: { ...this.key(), ...this.values() } };
      await this.call('POST', '/table_data/batch', {
        table_definition_id: this.table.id,
        operations: [...operations, created],
      });
    },
    'import a part': () => this.import('incremental'),
    'import everything': () => this.import('full'),
    'import with deletions': () => this.import('incremental_with_delete'),
  };

  private readonly wideActions: Record<string, () => Promise<void>> = {
    'another scale': async () => {
      this.scale = this.random(3);
      await this.changeColumn('amount', { scale: this.scale });
    },
    'another length': async () => {
      this.nameLength = this.pick([3, 10, 20]);
      await this.changeColumn('name', { length: this.nameLength });
    },
    'another column': async () => {
      this.hasNote = !this.hasNote;
      for (const { id } of this.twins) {
        if (this.hasNote)
          await this.api.post('/column_definitions', { table_definition_id: id, column_definition: columns[4] });
        else await this.api.delete(`/column_definitions/${await this.columnId(id, 'note')}`);
      }
      await this.deploy();
    },
    promote: () => this.promote(),
  };

  /**
   * Takes a random action and returns its name: one of `rows` leaves the columns as they are, a
   * `wide` one changes columns or promotes.
   */
  async act(kind: 'any' | 'rows' | 'wide' = 'any'): Promise<string> {
    const actions = {
      ...(kind === 'wide' ? {} : this.rowActions),
      ...(kind === 'rows' ? {} : this.wideActions),
    };
    const name = this.pick(Object.keys(actions));
    await actions[name]?.();
    return name;
  }

  private write = (method: string, path: string, record: object) =>
    this.call(method, `/table_data${path}`, { table_definition_id: this.table.id, record });

  private named = (ids: number[]) => ({ table_definition_id: this.table.id, ids });

  private delete = (row: Row) => this.call('POST', '/table_data/delete_records', this.named([row.svc_sk]));

  private async some(act: (row: Row) => Promise<void>): Promise<void> {
    const rows = await this.rows();
    if (rows.length > 0) await act(this.pick(rows));
  }

  private async import(pattern: string): Promise<void> {
    const keys = new Map(Array.from({ length: 5 }, () => this.key()).map((key) => [JSON.stringify(key), key]));
    const isCoded = pattern === 'incremental_with_delete';
    const lines = [...keys.values()].map((key) => ({
      ...(isCoded && { svc_transaction_code: this.pick(['i', 'u', 'd']) }),
      ...key,
      ...this.values(),
    }));
    const again = isCoded ? [{ ...lines[0], svc_transaction_code: 'd' }] : [];
    const text = [...again, ...lines].map((line) => JSON.stringify(line)).join('\n');
    await importAll(this.api, this.table, { pattern, format: 'ndjson' }, text);
  }

  private async columnId(tableId: number, name: string): Promise<number> {
    const { data: defined } = await this.api.get<{ data: { id: number; name: string }[] }>(
      `/column_definitions?table_definition_id=${tableId}&per_page=100`,
    );
    return defined.find((column) => column.name === name)?.id as number;
  }

  private async changeColumn(name: string, column_definition: object): Promise<void> {
    for (const { id } of this.twins)
      await this.api.patch(`/column_definitions/${await this.columnId(id, name)}`, { column_definition });
    await this.deploy();
  }

  private async deploy(): Promise<void> {
    for (const twin of this.twins) await deployTable(this.api, twin);
  }

  private async promote(): Promise<void> {
    const copy = await cloneTable(this.api, this.table, true);
    const rows = (await this.api.get<{ data: Row[] }>(`/table_data?table_definition_id=${copy.id}&per_page=1000`)).data;
    const [changed, deleted] = rows;
    const write = (method: string, path: string, record: object) =>
      this.call(method, `/table_data${path}`, { table_definition_id: copy.id, record });
    if (changed) await write('PATCH', `/${changed.svc_sk}`, this.random(2) === 0 ? this.key() : this.values());
    if (deleted)
      await this.call('POST', '/table_data/delete_records', { table_definition_id: copy.id, ids: [deleted.svc_sk] });
    await write('POST', '', { ...this.key(), ...this.values() });
    const promotion = await this.api.post<{ id: number }>('/promotions', {
      from_branch_id: copy.branchId,
      to_branch_id: this.table.branchId,
      table_definition_ids: [copy.id],
      include_data: true,
    });
    await this.api.post(`/promotions/${promotion.id}/promote`, {});
  }
}

async function cloneTable(api: Api, table: DeployedTable, include_data: boolean): Promise<DeployedTable> {
  const branch = await api.post<{ id: number }>('/branches', { branch: { name: `Copy ${unique()}` } });
  const wish = { target_branch_id: branch.id, include_data };
  const { id, key } = await api.post<{ id: number; key: string }>(`/table_definitions/${table.id}/clone`, wish);
  const clone = { ...table, id, key, branchId: branch.id };
  await deployTable(api, clone);
  return clone;
}

/** An import did not complete. */
export class ImportEnded extends Error {}

/** Imports a file into a table; every row must be accepted. */
export async function importAll(
  api: Api,
  table: DeployedTable,
  how: { pattern: string; format: string },
  file: string | Uint8Array,
): Promise<void> {
  const { status, errors, rejections } = await importFile(api, table, { allow_mass_delete: true, ...how }, file);
  if (status !== 'completed') throw new ImportEnded(JSON.stringify({ status, errors, rejections }));
}
