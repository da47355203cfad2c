// Random histories of definitions on two branches, and the definitions of a branch in a form that
// compares across branches: columns are identified by tokens that stay the same in clones, tables
// by their keys.
import fc from 'fast-check';
import type { Answer } from '../../given.ts';
import type { Work } from '../../promotion-given.ts';

type Values = Record<string, unknown>;
export type Column = Values & { token: string; name: string };
export type Table = { id: number; key: string; values: Values; shown: string | null; columns: Column[] };
/** The drafts of a branch by key. */
export type Branch = Map<string, Table>;

/**
 * One edit, as numbers that select their objects when it is applied. An impossible edit is refused.
 */
export type Edit = {
  side: 'source' | 'target';
  kind: keyof typeof edits;
  table: number;
  column: number;
  choice: number;
};

type Place = { table: Table; column: Column | undefined; branch: Branch; domains: number[]; branchId: number };
type Request = [method: string, path: string, body?: unknown];
type Making = (place: Place, choice: number) => Request | undefined;

const types = [
  { data_type: 'string', length: 20 },
  { data_type: 'string', length: 60 },
  { data_type: 'text' },
  { data_type: 'integer' },
  { data_type: 'bigint' },
  { data_type: 'decimal', length: 12, scale: 2 },
  { data_type: 'date' },
];
const pick = <T>(list: readonly T[], choice: number): T => list[choice % list.length] as T;
const names = ['alpha', 'beta', 'gamma', 'Delta', 'omega'];
const texts = ['', 'one', 'two', null];

const ofTable = (change: (place: Place, choice: number) => Values): Making => {
  return (place, choice) => ['PATCH', `/table_definitions/${place.table.id}`, change(place, choice)];
};
const ofColumn = (change: (place: Place & { column: Column }, choice: number) => Values): Making => {
  return ({ column, ...place }, choice) =>
    column && ['PATCH', `/column_definitions/${column.id}`, change({ ...place, column }, choice)];
};

const edits = {
  name: ofTable((_place, choice) => ({ name: `Table ${pick(names, choice)}` })),
  description: ofTable((_place, choice) => ({ description: pick(texts, choice) })),
  load_type: ofTable((_place, choice) => ({ load_type: pick(['manual', 'source'], choice) })),
  domain: ofTable(({ domains }, choice) => ({ domain_id: pick(domains, choice) })),
  lookup: ofTable(({ column }, choice) => ({ lookup_display_column_id: choice % 3 ? (column?.id ?? null) : null })),
  add: ({ table }, choice) => [
    'POST',
    '/column_definitions',
    { table_definition_id: table.id, name: pick(names, choice), ...pick(types, choice) },
  ],
  rename: ofColumn((_place, choice) => ({ name: pick(names, choice) })),
  type: ofColumn((_place, choice) => pick(types, choice)),
  required: ofColumn((_place, choice) => ({ is_required: choice % 4 === 0 })),
  key: ofColumn((_place, choice) => ({ is_primary_key: choice % 5 === 0 })),
  values: ofColumn((_place, choice) => ({ valid_values: pick(['1|A', '1|A|B', '1|2', null], choice) })),
  note: ofColumn((_place, choice) => ({ description: pick(texts, choice) })),
  refer: ofColumn(({ branch }, choice) => ({
    foreign_key_table_id: choice % 3 ? null : pick([...branch.values()], choice).id,
  })),
  drop: ({ column }) => column && ['DELETE', `/column_definitions/${column.id}`],
  create: ({ domains, branchId }, choice) => [
    'POST',
    '/table_definitions',
    { branch_id: branchId, name: `New ${pick(names, choice)}`, domain_id: pick(domains, choice) },
  ],
  remove: ({ table }) => ['DELETE', `/table_definitions/${table.id}`],
} satisfies Record<string, Making>;

// Tables are created and removed less often than changed, and only on the branch that is promoted.
const kinds = Object.keys(edits) as (keyof typeof edits)[];
const changes = kinds.filter((kind) => kind !== 'create' && kind !== 'remove');
const number = fc.nat(999);

export const history: fc.Arbitrary<Edit[]> = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record<Edit>({
        side: fc.constantFrom('source', 'target'),
        kind: fc.constantFrom(...changes),
        table: number,
        column: number,
        choice: number,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record<Edit>({
        side: fc.constant('source'),
        kind: fc.constantFrom('create', 'remove'),
        table: number,
        column: number,
        choice: number,
      }),
    },
  ),
  { minLength: 4, maxLength: 18 },
);

/** Knows which columns are the same on both branches. */
export class Tokens {
  private readonly known = new Map<number, string>();
  /** The token of a column; a new one for an unknown column. */
  of(id: number): string {
    const token = this.known.get(id) ?? `column ${id}`;
    this.known.set(id, token);
    return token;
  }
  knows(id: number): boolean {
    return this.known.has(id);
  }
  same(id: number, token: string): void {
    this.known.set(id, token);
  }
}

/** Reads the drafts of a branch. `copiedFrom`: unknown columns are those of the same name there. */
export async function readBranch(work: Work, tokens: Tokens, branchId: number, copiedFrom?: Branch): Promise<Branch> {
  const [{ data: shown }, { data: every }] = await Promise.all([
    work.admin.get(`/table_definitions?branch_id=${branchId}`),
    work.admin.get('/column_definitions?sort=position&per_page=1000'),
  ]);
  const keys = new Map<number, string>(shown.map(({ id, key }: Answer['body']) => [id, key]));
  const branch: Branch = new Map();
  for (const table of shown) {
    const originals = copiedFrom?.get(table.key)?.columns ?? [];
    const own = every.filter((column: Answer['body']) => column.table_definition_id === table.id);
    const columns = own.map((column: Answer['body']): Column => {
      const original = originals.find(({ name }) => name === column.name);
      if (!tokens.knows(column.id) && original) tokens.same(column.id, original.token);
      const { id, name, data_type, length, scale, is_primary_key, is_required, description } = column;
      return {
        id,
        token: tokens.of(id),
        name,
        data_type,
        length,
        scale,
        is_primary_key,
        is_required,
        foreign_key_table_key: keys.get(column.foreign_key_table_id) ?? null,
        valid_values: column.valid_values?.split('|') ?? [],
        description,
      };
    });
    const { id, key, name, description, domain_id, load_type, lookup_display_column_id: lookup } = table;
    const values = { name, description, domain_id, load_type };
    branch.set(key, { id, key, values, shown: lookup === null ? null : tokens.of(lookup), columns });
  }
  return branch;
}

/** Does one edit, unless it is refused. */
export async function doEdit(work: Work, tokens: Tokens, edit: Edit, domains: number[]): Promise<void> {
  const branchId = edit.side === 'source' ? work.featureId : work.account.mainId;
  const branch = await readBranch(work, tokens, branchId);
  if (branch.size === 0) return;
  const table = pick([...branch.values()], edit.table);
  // Key columns less often: references to them would block the edit.
  const others = edit.column % 5 ? table.columns.filter(({ is_primary_key }) => !is_primary_key) : table.columns;
  const column = others.length > 0 ? pick(others, edit.column) : undefined;
  const making: Making = edits[edit.kind];
  const request = making({ table, column, branch, domains, branchId }, edit.choice);
  if (!request) return;
  const { status, body } = await work.admin.send(...request);
  if (status >= 300 && status !== 422) throw new Error(`${JSON.stringify(request)}: ${status} ${JSON.stringify(body)}`);
}
