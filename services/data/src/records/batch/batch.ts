// Many writes of one table at once, all or nothing: one statement, whatever their number.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { isForeignKeyViolation, isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import type { DataContext } from '../../context.ts';
import { run } from '../../postgres/pools.ts';
import { originOf } from '../../rows/origin.ts';
import { catalogueSql, stale } from '../../tables/catalogue.ts';
import { isCurrent, type TableRequest } from '../../tables/open-table.ts';
import { type DeployedTable, keyColumns } from '../../tables/table.ts';
import { referrersOf } from '../constraint-sql.ts';
import { findRefusedCycle, keyText, type RefusedCycle } from '../hierarchy-problems.ts';
import { findKept, writeOnce } from '../idempotency.ts';
import { writeTable } from '../write-table.ts';
import { type Batch, type Operation, Problems, type RowChange, readBatch } from './batch-input.ts';
import { batchProblemsSql, type Found, type Question } from './batch-problems-sql.ts';
import { batchSql, type Done } from './batch-sql.ts';

/**
 * Creates, changes and deletes rows of one table, all or nothing. Refused with everything that stands in the way, each problem with
 * its operation: 404 when records are absent, else 412 when they have other versions, else 422.
 */
export function writeBatch(
  ctx: DataContext,
  call: CallContext,
  reference: TableRequest,
  operations: Operation[],
): Promise<Answer> {
  return writeTable(ctx, call, reference, async (table) => {
    const kept = await findKept(ctx, call);
    if (kept) return kept;
    const { batch, problems } = readBatch(table, operations);
    if (!problems.isEmpty) throw await refusal(ctx, table, batch, problems);
    const statement = batchSql(table, batch, originOf(call, 'api'));
    let answer: Answer | undefined;
    try {
      answer = await writeOnce(ctx, call, table, statement, doneAnswer);
    } catch (error) {
      const cycle = findRefusedCycle(table, error);
      if (cycle) throw validationFailed(cycleSentences(table, batch, cycle));
      if (!isUniqueViolation(error) && !isForeignKeyViolation(error)) throw error;
      throw (await findRefusal(ctx, table, batch)) ?? error;
    }
    if (answer) return answer;
    if (!(await isCurrent(ctx, table))) return stale;
    throw (
      (await findRefusal(ctx, table, batch)) ??
      new ServiceError('unavailable', 'Records were changed at the same moment; try again.')
    );
  });
}

// New records are known by their key: their ids are gone with them.
function cycleSentences(table: DeployedTable, { created, updated }: Batch, { rows, sentence }: RefusedCycle): string[] {
  const [ids, keys] = [new Set(rows.map(({ id }) => id)), new Set(rows.map(({ key }) => key))];
  const key = keyColumns(table.structure);
  const problems = new Problems();
  for (const change of updated) if (ids.has(String(change.id))) problems.add({ place: change.place, sentence });
  for (const { place, cells } of created)
    if (keys.has(keyText(key.map((column) => cells.get(column))))) problems.add({ place, sentence });
  return problems.isEmpty ? [sentence] : problems.sentences;
}

function doneAnswer({ created, updated, created_count, updated_count, deleted_count }: Done): Answer {
  const records = (count: number) => `${count} ${count === 1 ? 'record' : 'records'}`;
  const message = `${records(created_count)} created, ${records(updated_count)} updated, ${records(deleted_count)} deleted`;
  return {
    body: `{"created":[${created}],"updated":[${updated}],"deleted_count":${deleted_count},"message":"${message}"}`,
  };
}

const findRefusal = async (ctx: DataContext, table: DeployedTable, batch: Batch) => {
  const problems = new Problems();
  const refused = await refusal(ctx, table, batch, problems);
  return problems.isEmpty && refused.kind === 'validation_failed' ? undefined : refused;
};

/** What refuses the batch: these problems, and what is found among the rows. */
async function refusal(
  ctx: DataContext,
  table: DeployedTable,
  batch: Batch,
  problems: Problems,
): Promise<ServiceError> {
  const branch = await run<DeployedTable>(ctx.pools.rows, catalogueSql.ofBranch(table.account_id, table.branch_id));
  const { statement, questions } = batchProblemsSql(table, batch, referrersOf(table, branch));
  const found = await run<Found>(ctx.pools.rows, statement);
  const changes = new Map(
    Object.values(batch)
      .flat()
      .map((change) => [change.place, change]),
  );
  const told = found.map(({ place, question, other }) => {
    const { kind, sentence } = questions[question] as Question;
    return { kind, place, sentence: sentence(changes.get(place) as RowChange, other) };
  });
  const only = (kind: Question['kind']) => {
    const some = new Problems();
    some.add(...told.filter((each) => each.kind === kind));
    return some;
  };
  const [absent, outdated] = [only('absent'), only('outdated')];
  if (!absent.isEmpty) return new ServiceError('not_found', absent.sentences);
  if (!outdated.isEmpty) return new ServiceError('precondition_failed', outdated.sentences);
  problems.add(...told);
  return validationFailed(problems.sentences);
}
