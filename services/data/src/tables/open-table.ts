// Opens the table of a request: finds it (404), checks the right (403) and that all its names are
// of one table (400), and runs the work with it, again while a deployment changes it.

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type Answer, findAnswer } from '@almanac/service-kit/caller/idempotency';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { pgSql } from '@almanac/service-kit/postgres/database';
import { hasSqlClass } from '@almanac/service-kit/postgres/errors';
import type { Action, Rights } from '@almanac/service-kit/rights/rights';
import { requireSameTable, type TableReference } from '@almanac/service-kit/rights/table-reference';
import type { Pools } from '../postgres/pools.ts';
import { type Catalogue, notDeployed } from './catalogue.ts';
import { isProposedOnly, proposalsOnly } from './row-policy.ts';
import type { DeployedTable } from './table.ts';
import { mayReview, maySee, requireRightOn } from './table-rights.ts';

/** What tables are used for; an export reads a whole table. */
export const tableUses = ['read', 'write', 'export'] as const;
export type TableUse = (typeof tableUses)[number];

/** What opening a table takes; `usage` counts the calls that have used one. */
export type TableAccess = {
  catalogue: Catalogue;
  rights: Rights;
  usage: { note(table: DeployedTable, call: CallContext, kind: TableUse): void };
};

/** What opening one to write its rows takes. */
export type WritingAccess = TableAccess & { pools: Pick<Pools, 'rows'> };

/**
 * The table that a request is about, and how its records are shown: decimals and bigints as
 * strings, with the records that they refer to. `includeTargets`: the referenced tables are opened
 * without showing lookups.
 */
export type TableRequest = TableReference & {
  exactNumbers?: boolean;
  includeLookups?: boolean;
  includeTargets?: boolean;
  /** Rows are read through it. */
  through?: ChangeRequestReading | undefined;
};

/**
 * A change request through which rows are read: as they would be. `onlyChanged`: those rows alone
 * that it changes.
 */
export type ChangeRequestReading = { changeRequestId: number; branchId: number; onlyChanged?: boolean };

/** A dry run of a load of a table through which its rows are read: as they would be. */
export type DryRunReading = { loadId: string; tableDefinitionId: number };

/**
 * The referenced tables that the caller may view, by id; undefined when the request doesn't need
 * them.
 */
export type LookupTargets = ReadonlyMap<number, DeployedTable> | undefined;

/** What the work of a request returns when its statement was for another revision of the table. */
export const stale = Symbol('stale');

type Work<T> = (
  table: DeployedTable,
  targets: LookupTargets,
  through: ChangeRequestReading | undefined,
) => Promise<T | typeof stale>;

// Each attempt waits for a running deployment; only a table that is deployed all the time gets this
// far.
const maxAttempts = 20;

/**
 * Runs `work` with the table of a request and the targets of its lookups, once the caller has the
 * right. The entries may come from the cache. When `work` returns `stale`, or fails in a way that
 * an outdated entry explains, the entries are read again, and `work` runs again if they have
 * changed. To edit a table whose changes are proposed is 422.
 */
export function withTable<T>(
  access: WritingAccess,
  call: CallContext,
  request: TableRequest,
  action: 'edit',
  work: Work<T>,
): Promise<T>;
export function withTable<T>(
  access: TableAccess,
  call: CallContext,
  request: TableRequest,
  action: Exclude<Action, 'edit'>,
  work: Work<T>,
): Promise<T>;
export async function withTable(
  access: TableAccess | WritingAccess,
  call: CallContext,
  request: TableRequest,
  action: Action,
  work: Work<unknown>,
): Promise<unknown> {
  const { catalogue, rights, usage } = access;
  const { accountId } = call;
  const needsTargets = request.includeLookups || request.includeTargets;
  const lookups = needsTargets ? lookupTables : noTables;
  let table = await catalogue.get(accountId, request);
  let others = await catalogue.findAll(accountId, lookups(table));
  for (let attempt = 1; ; attempt += 1) {
    let failure: unknown;
    try {
      const through = await requireReading({ rights }, call, action, table, request.through);
      requireSameTable(request, table);
      if (action === 'edit' && isProposedOnly(table)) return await answerOrRefuse(access as WritingAccess, call);
      const targets = needsTargets ? await visible(rights, call, others) : undefined;
      const result = await (request.exactNumbers
        ? work(exactForm(table), targets && allExact(targets), through)
        : work(table, targets, through));
      if (result !== stale) {
        usage.note(table, call, action === 'view' ? 'read' : 'write');
        return result;
      }
    } catch (error) {
      if (!mayComeFromChange(error)) throw error;
      failure = error;
    }
    const fresh = await catalogue.read(accountId, request);
    if (!fresh) throw notDeployed();
    const freshOthers = await catalogue.readAll(accountId, lookups(fresh));
    if (failure !== undefined && fresh.revision === table.revision && haveSameRevisions(others, freshOthers))
      throw failure;
    if (attempt >= maxAttempts) throw new ServiceError('unavailable', 'The table is being deployed; try again.');
    table = fresh;
    others = freshOthers;
  }
}

/**
 * The right on a table, and how its rows are read through a change request. Who approves on the
 * branch of the request reads what it changes without a right on the table.
 */
export async function requireReading(
  { rights }: { rights: Rights },
  call: CallContext,
  action: Action,
  table: DeployedTable,
  through: ChangeRequestReading | undefined,
): Promise<ChangeRequestReading | undefined> {
  const isReviewed = through?.branchId === table.branch_id && (await mayReview({ rights }, call, table));
  if (isReviewed && !(await maySee({ rights }, call, table))) return { ...through, onlyChanged: true };
  await requireRightOn({ rights }, call, action, table);
  if (through && through.branchId !== table.branch_id)
    throw validationFailed({
      code: 'incompatible',
      message: 'The table is on another branch than the change request.',
      field: 'change_request_id',
    });
  return through;
}

/**
 * The same for work on several tables that opens them itself: runs it again when it returns
 * `stale`, having read the entries again, or fails in a way that an outdated entry explains.
 */
export async function repeatWhileStale<T>(
  work: () => Promise<T | typeof stale>,
  refresh: () => Promise<unknown>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await work();
      if (result !== stale) return result;
    } catch (error) {
      if (error instanceof ServiceError || !mayComeFromChange(error) || attempt > 1) throw error;
    }
    if (attempt >= maxAttempts) throw new ServiceError('unavailable', 'A table is being deployed; try again.');
    await refresh();
  }
}

// A repeated request answers what the write did before its table came under the policy. Only work
// that makes such answers is repeated by a key.
async function answerOrRefuse({ pools }: WritingAccess, { keyed }: CallContext): Promise<Answer> {
  const kept = keyed && (await findAnswer(pgSql(pools.rows), keyed));
  if (!kept) throw proposalsOnly();
  return kept;
}

const noTables = (): number[] => [];

/** The tables that a table refers to. */
export const lookupTables = ({ structure }: DeployedTable): number[] =>
  structure.foreign_keys.map((foreignKey) => foreignKey.target_table_id);

/** Those that the caller may view: the rows of others stay out of lookups, too. */
export async function visible(rights: Rights, call: CallContext, tables: ReadonlyMap<number, DeployedTable>) {
  const seen = new Map<number, DeployedTable>();
  for (const [id, table] of tables) if (await maySee({ rights }, call, table)) seen.set(id, table);
  return seen;
}

const haveSameRevisions = (some: ReadonlyMap<number, DeployedTable>, others: ReadonlyMap<number, DeployedTable>) =>
  some.size === others.size && [...some].every(([id, table]) => others.get(id)?.revision === table.revision);

// A missing column or table, a changed type, a plan that no longer fits (feature not supported); or
// a refusal that follows from an outdated entry: of a column it doesn't have, of a right in another
// domain.
function mayComeFromChange(error: unknown): boolean {
  if (error instanceof ServiceError) return error.status < 500;
  return (
    hasSqlClass(error, 'syntax_error_or_access_rule_violation', 'feature_not_supported', 'invalid_schema_name') ||
    hasSqlClass(error, 'data_exception', 'integrity_constraint_violation')
  );
}

const exactTables = new WeakMap<DeployedTable, DeployedTable>();

/**
 * The table whose records show decimals and bigints as strings. It is an entry of its own, so that
 * statements, pages and batches, which are cached by entry, are cached for each form.
 */
export function exactForm(table: DeployedTable): DeployedTable {
  let form = exactTables.get(table);
  if (!form) {
    form = { ...table, structure: { ...table.structure, exact_numbers: true } };
    exactTables.set(table, form);
  }
  return form;
}

const allExact = (tables: ReadonlyMap<number, DeployedTable>) =>
  new Map([...tables].map(([id, table]) => [id, exactForm(table)]));
