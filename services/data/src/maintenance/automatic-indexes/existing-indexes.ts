// Which indexes for the grid a table has, and how they change the plan of a page. The list is
// cached and read in the background: until it is known, a page is planned as if there were none.
import type pg from 'pg';
import type { Filter, PagePlan } from '../../pages/filter.ts';
import { run } from '../../postgres/pools.ts';
import type { Field } from '../../rows/fields.ts';
import { gridIndexPattern, tableName } from '../../sql/identifiers.ts';
import type { DeployedTable } from '../../tables/table.ts';
import { equalitiesOf, type GridIndex, indexName, orderOf, simplest } from './grid-index.ts';

type Known = { names: ReadonlySet<string>; until: number };

const ttlMs = 10_000;
const none: ReadonlySet<string> = new Set();

export class ExistingIndexes {
  private readonly pool: pg.Pool;
  private readonly known = new WeakMap<DeployedTable, Known>();

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  /** The names as cached; refreshed in the background after the TTL. */
  find(table: DeployedTable): ReadonlySet<string> {
    const known = this.known.get(table);
    if (known && known.until > Date.now()) return known.names;
    const names = known?.names ?? none;
    // A page in between doesn't read it again.
    this.known.set(table, { names, until: Date.now() + ttlMs });
    this.read(table).catch(() => this.known.delete(table));
    return names;
  }

  /** Reads the names now. */
  async read(table: DeployedTable): Promise<void> {
    const rows = await run<{ name: string }>(this.pool, {
      text: `select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
        where i.indrelid = to_regclass($1) and i.indisvalid and c.relname ~ $2`,
      values: [tableName(table), gridIndexPattern],
    });
    this.known.set(table, { names: new Set(rows.map(({ name }) => name)), until: Date.now() + ttlMs });
  }
}

/** The plan of a page with these indexes. Pure. */
export function serve(table: DeployedTable, plan: PagePlan, made: ReadonlySet<string>): PagePlan {
  const { filter } = plan;
  if (made.size === 0 || plan.includeDeleted || !('all' in filter)) return plan;
  const order = orderOf(plan.sorts);
  const isMade = (orders: (GridIndex | undefined)[], equal: Field) =>
    orders.some((each) => each && made.has(indexName(table, simplest({ ...each, equal }))));
  // An index is read from either end; where few rows are equal, one index serves all orders.
  const inOrder: GridIndex[] = order
    ? [
        { ...order, kind: 'ascending' },
        { ...order, kind: 'descending' },
      ]
    : [];
  const equalities = equalitiesOf(filter);
  const folded = equalities.filter(
    ({ field, test }) => test.kind === 'text' && isMade([...inOrder, orderOf([])], field),
  );
  const all = filter.all.map((each): Filter => {
    const known = folded.find((one) => one === each);
    return known?.test.kind === 'text' ? { ...known, test: { ...known.test, isFolded: true } } : each;
  });
  const [only] = equalities;
  const isInOrder = only !== undefined && filter.all.length === 1 && isMade(inOrder, only.field);
  return { ...plan, filter: { all }, isInOrder };
}
