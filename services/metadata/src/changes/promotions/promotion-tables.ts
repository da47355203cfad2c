// The tables of a promotion as they are stored: by them its visibility and the rights on it are
// decided, and they hold the versions that were proposed or that approval was requested for.
import type { Transaction } from '../../transaction.ts';
import type { Revision } from '../reviewed-revisions.ts';
import type { TablePair } from './comparison/promotion-plan.ts';

/** What is stored of a table; `domain_id` null: the table is on neither branch any more. */
export const storedTable = ({ sourceId, sourceVersion, targetId, targetVersion, target, source }: TablePair) => ({
  table_definition_id: sourceId,
  source_version: sourceVersion,
  target_definition_id: targetId,
  target_version: targetVersion,
  domain_id: (target ?? source)?.domain_id ?? null,
});

type Stored = {
  revision: string;
  tables: {
    table_definition_id: number;
    source_version: number | null;
    target_definition_id: number | null;
    target_version: number | null;
  }[];
};

/** The revision that was proposed or that approval was requested for. */
export const proposedRevision = ({ revision, tables }: Stored): Revision => ({
  revision,
  facts: tables.map(({ table_definition_id, source_version, target_definition_id, target_version }) => [
    table_definition_id,
    source_version,
    target_definition_id,
    target_version,
  ]),
});

/**
 * Stores the revision that approval is requested for: a user who was shown no other may promote it.
 * At the end of a promotion, stores what was merged.
 */
export async function storeRevision(
  tx: Transaction,
  id: number,
  { pairs, revision }: { pairs: TablePair[]; revision: string },
): Promise<void> {
  await tx.promotion.update({ where: { id }, data: { revision } });
  const tables = pairs.map(storedTable);
  await tx.$executeRaw`
    update promotion_table p set source_version = f.source_version, target_definition_id = f.target_definition_id,
      target_version = f.target_version, domain_id = coalesce(f.domain_id, p.domain_id)
    from jsonb_to_recordset(${JSON.stringify(tables)}::jsonb) as f (table_definition_id int, source_version int,
      target_definition_id int, target_version int, domain_id int)
    where p.promotion_id = ${id} and p.table_definition_id = f.table_definition_id`;
}

/** Stores which tables a promotion is about to change. The requested versions stay as they are. */
export async function storeTargets(tx: Transaction, id: number, pairs: TablePair[]): Promise<void> {
  const tables = pairs.map(storedTable);
  await tx.$executeRaw`
    update promotion_table p set target_definition_id = f.target_definition_id, domain_id = coalesce(f.domain_id, p.domain_id)
    from jsonb_to_recordset(${JSON.stringify(tables)}::jsonb) as f (table_definition_id int, target_definition_id int, domain_id int)
    where p.promotion_id = ${id} and p.table_definition_id = f.table_definition_id
      and (p.target_definition_id, p.domain_id) is distinct from (f.target_definition_id, coalesce(f.domain_id, p.domain_id))`;
}
