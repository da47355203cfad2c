// One attempt at an application or its rehearsal, in one transaction: from locking the tables to
// the kept result. A rehearsal finds the problems by the same statements, and keeps them. It
// writes no row: that would keep writers of a hundred thousand rows waiting, and leave as many
// dead versions. `application.property.slow.test.ts` shows that nothing else is in the way of an
// application.
import { type CallContext, callerName } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Sql } from '@almanac/service-kit/postgres/database';
import type { Problem } from '@almanac/service-kit/problems';
import { listBranch } from '../../deployments/removal.ts';
import { rowOf } from '../../records/preconditions.ts';
import { stampSql } from '../../rows/write-time.ts';
import { applicationName, operationProblemsName, tableName } from '../../sql/identifiers.ts';
import type { Statement } from '../../sql/statement.ts';
import type { DeployedTable } from '../../tables/table.ts';
import { type ChangeRequest, headerSql, unknownRequest } from '../change-requests.ts';
import { revisionOf } from '../revision.ts';
import { applySql, type Effects, effectsSql, type WrittenPart } from './application-effects-sql.ts';
import {
  clearProblemsSql,
  countProblemsSql,
  createProblemsSql,
  type FoundProblem,
  firstProblemsSql,
  keepProblemsSql,
  nextProblemsSql,
  type PartRules,
  rulesOf,
  undeployedSql,
} from './application-problems-sql.ts';
import {
  type Applied,
  type AppliedTable,
  findApplied,
  findAppliedTo,
  type RequestProblem,
} from './application-result.ts';
import { gatheredIndexes, gatherSql, namedLineagesSql, planPart, type TablePart } from './gathered-operations-sql.ts';

/** What an attempt locks. */
type Attempt = {
  /** The tables of the operations, as they were before the transaction. */
  tables: ReadonlyMap<number, DeployedTable>;
  /** Keeps other writers out. */
  exclusive: boolean;
};

export type Application = {
  /** An application has a result under it once. */
  applyId: string;
  changeRequestId: number;
  /** Empty: the present one. */
  revision: string;
  requestedBy: number | undefined;
  approvedBy: number | undefined;
  restRequestId: number;
};

/** Problems and counts as an answer shows them, and the revision that they hold for. */
export type Rehearsed = { revision: string; problems: RequestProblem[]; problem_count: number; tables: AppliedTable[] };

/** Thrown to roll back an application that is refused, or was done before. */
export class RolledBack extends Error {
  readonly result: Applied;
  constructor(result: Applied) {
    super('not applied');
    this.result = result;
  }
}

type Gathered = { parts: TablePart[]; rules: PartRules[]; branch: DeployedTable[]; effects: Effects[] };

// Operations are read in blocks when their problems are kept: an answer has only the first.
const keptAtOnce = 2_000;

export class ApplicationRun {
  private readonly sql: Sql;
  private readonly call: CallContext;
  private readonly attempt: Attempt;

  constructor(sql: Sql, call: CallContext, attempt: Attempt) {
    this.sql = sql;
    this.call = call;
    this.attempt = attempt;
  }

  private async query({ text, values }: Statement): Promise<Record<string, unknown>[]> {
    return (await this.sql(text, values)).rows;
  }

  /** Answers the result, and keeps it; throws `RolledBack`, and an error in another phase. */
  async apply(application: Application): Promise<Applied> {
    const { sql, call } = this;
    await this.lockTables('0', this.attempt.exclusive ? 'share row exclusive' : 'row exclusive');
    const begun = await sql(
      `insert into applied_change_request (account_id, apply_id, change_request_id, requested_by, approved_by, result)
       values ($1::int, $2, $3::int, $4::int, $5::int, '{}') on conflict do nothing`,
      [
        call.accountId,
        application.applyId,
        application.changeRequestId,
        application.requestedBy ?? null,
        application.approvedBy ?? null,
      ],
    );
    const header = await this.findHeader(application.changeRequestId, 'for update');
    const known =
      begun.rowCount === 0
        ? await findApplied(sql, call.accountId, application.applyId)
        : await findAppliedTo(sql, header);
    if (known) throw new RolledBack(known);
    await this.requireDecided(header);
    const revision = await revisionOf(sql, header.account_id, header.id);
    if (application.revision !== '' && application.revision !== revision)
      throw new RolledBack({ ...nothing, revision, problems: [outdated], problem_count: 1 });
    const gathered = await this.gather(header);
    const { problems, problem_count, tables } = await this.report(header, gathered, []);
    if (problem_count > 0) throw new RolledBack({ ...nothing, revision, problems, problem_count });
    await this.write(gathered, {
      actor: application.requestedBy === undefined ? callerName(call) : `user:${application.requestedBy}`,
      changeRequestId: header.id,
      approvedBy: application.approvedBy,
    });
    const left = await this.moveReturned(header, application.restRequestId);
    await sql(
      `update change_request set phase = 'closed', operation_count = operation_count - $3::int, changes = changes + 1
       where account_id = $1::int and id = $2::int`,
      [header.account_id, header.id, left],
    );
    const result: Applied = { status: 'applied', revision, problems: [], problem_count: 0, tables, left };
    await sql('update applied_change_request set result = $3::jsonb where account_id = $1::int and apply_id = $2', [
      call.accountId,
      application.applyId,
      JSON.stringify(result),
    ]);
    return result;
  }

  /**
   * Keeps the problems with the operations, and writes nothing else. Those of `hidden` tables are
   * in no answer.
   */
  async rehearse(changeRequestId: number, hidden: number[]): Promise<Rehearsed> {
    const { sql } = this;
    await this.lockTables("'120s'", 'access share');
    const header = await this.findHeader(changeRequestId);
    if (await findAppliedTo(sql, header)) throw wrongState('The change request has been applied.');
    const revision = await revisionOf(sql, header.account_id, header.id);
    const gathered = await this.gather(header);
    const shown = await this.report(header, gathered, hidden);
    await this.keepProblems(header, gathered);
    return { revision, ...shown };
  }

  // SET LOCAL and LOCK take no snapshot. The first statement that does reads the catalogue, when
  // the locks already keep deployments out.
  private async lockTables(statementTimeout: string, mode: string): Promise<void> {
    for (const setting of [
      `statement_timeout = ${statementTimeout}`,
      "lock_timeout = '30s'",
      "work_mem = '128MB'",
      'idle_in_transaction_session_timeout = 0',
      // The gathered operations are analyzed: their flags need a small sample.
      'default_statistics_target = 10',
    ])
      await this.sql(`set local ${setting}`);
    const names = [...this.attempt.tables.values()].toSorted((a, b) => a.lineage_id - b.lineage_id).map(tableName);
    if (names.length > 0) await this.sql(`lock table ${names.join(', ')} in ${mode} mode`);
  }

  private async findHeader(id: number, lock?: 'for update'): Promise<ChangeRequest> {
    const { rows } = await this.sql(headerSql(lock), [this.call.accountId, id]);
    if (!rows[0]) throw unknownRequest();
    return rows[0] as ChangeRequest;
  }

  private async requireDecided(header: ChangeRequest): Promise<void> {
    if (header.phase === 'draft') throw wrongState('The change request is a draft; it is applied after its review.');
    const { rows } = await this.sql(
      `select count(*) as count from change_request_operation
       where account_id = $1::int and change_request_id = $2::int and decision = 'undecided'`,
      [header.account_id, header.id],
    );
    const count = rows[0]?.count as number;
    if (count > 0) throw wrongState(`${count} operations of the change request are undecided.`);
  }

  private async gather(header: ChangeRequest): Promise<Gathered> {
    const { sql } = this;
    const branch = await listBranch(sql, header.account_id, header.branch_id);
    const byId = new Map(branch.map((table) => [table.table_definition_id, table]));
    const named = await this.query(namedLineagesSql(header.account_id, header.id));
    const parts: TablePart[] = [];
    const undeployed: number[] = [];
    for (const row of named) {
      const id = row.table_definition_id as number;
      const table = byId.get(id);
      // One that was deployed since is not locked.
      if (table && this.attempt.tables.has(id)) parts.push(planPart(table, row.lineages as number[]));
      else undeployed.push(id);
    }
    await sql(createProblemsSql);
    for (const part of parts) {
      await this.query(gatherSql(part, header.id));
      for (const index of gatheredIndexes(part)) await sql(index);
      // Without statistics the planner would estimate a handful of rows for a hundred thousand.
      await sql(`analyze ${applicationName(part.table)}`);
    }
    const rules = parts.map((part) => rulesOf(part, parts, branch));
    for (const { statement } of rules) await this.query(statement);
    if (undeployed.length > 0) await this.query(undeployedSql(header.account_id, header.id, undeployed));
    await sql(`create index on ${operationProblemsName} (place)`);
    await sql(`analyze ${operationProblemsName}`);
    const effects: Effects[] = [];
    for (const part of parts) effects.push((await this.query(effectsSql(part)))[0] as Effects);
    return { parts, rules, branch, effects };
  }

  private async report(header: ChangeRequest, gathered: Gathered, hidden: number[]) {
    const [counted] = await this.query(countProblemsSql(hidden));
    const problem_count = Number(counted?.count);
    const first = problem_count === 0 ? [] : await this.query(firstProblemsSql(header, limits.problems, hidden));
    const keys = new Map(gathered.branch.map(({ table_definition_id, key }) => [table_definition_id, key]));
    return {
      problem_count,
      problems: (first as FoundProblem[]).map(
        (found): RequestProblem => ({
          operation_id: Number(found.place),
          table_definition_id: found.table_definition_id,
          table: keys.get(found.table_definition_id) ?? '',
          ...describe(gathered, found),
        }),
      ),
      tables: gathered.parts.flatMap(({ table: { table_definition_id, key } }, i): AppliedTable[] =>
        hidden.includes(table_definition_id) ? [] : [{ table_definition_id, key, ...(gathered.effects[i] as Effects) }],
      ),
    };
  }

  private async write(
    { parts, effects }: Gathered,
    { actor, changeRequestId, approvedBy }: WriteOrigin,
  ): Promise<void> {
    const written: WrittenPart[] = [];
    for (const [i, part] of parts.entries()) {
      const own = effects[i] as Effects;
      if (own.created + own.updated + own.deleted + own.restored === 0) continue;
      const [clock] = await this.query(stampSql(part.table));
      written.push({ part, effects: own, at: clock?.at as string });
    }
    if (written.length === 0) return;
    await this.query(applySql(written, actor));
    for (const { part, at } of written)
      await this.sql(
        `insert into bulk_write (table_definition_id, account_id, at, request_id, change_request_id, approved_by)
         values ($1::int, $2::int, $3::timestamptz, $4, $5::int, $6::int)`,
        [
          part.table.table_definition_id,
          part.table.account_id,
          at,
          this.call.requestId,
          changeRequestId,
          approvedBy ?? null,
        ],
      );
  }

  // What was returned becomes a new draft of the same creator; the comments say why.
  private async moveReturned({ account_id, id }: ChangeRequest, restId: number): Promise<number> {
    const { rows } = await this.sql(
      `select count(*) as count from change_request_operation
       where account_id = $1::int and change_request_id = $2::int and decision = 'returned'`,
      [account_id, id],
    );
    const count = rows[0]?.count as number;
    if (count === 0) return 0;
    if (restId <= 0) throw new ServiceError('bad_request', { code: 'blank', message: 'rest_request_id is missing.' });
    await this.sql(
      `insert into change_request (account_id, id, branch_id, created_by, operation_count)
       select account_id, $3::int, branch_id, created_by, $4::int from change_request where account_id = $1::int and id = $2::int`,
      [account_id, id, restId, count],
    );
    await this.sql(
      `update change_request_operation set change_request_id = $3::int, decision = 'undecided', decided_by = null, decided_at = null
       where account_id = $1::int and change_request_id = $2::int and decision = 'returned'`,
      [account_id, id, restId],
    );
    return count;
  }

  private async keepProblems(header: ChangeRequest, gathered: Gathered): Promise<void> {
    await this.query(clearProblemsSql(header));
    for (let place = 0; ; ) {
      const next = await this.query(nextProblemsSql(header, place, keptAtOnce));
      if (next.length === 0) return;
      place = Number(next.at(-1)?.place);
      const kept = next.map((each) => ({
        id: Number(each.place),
        problems: (each.found as FoundProblem[]).slice(0, limits.problems).map((found) => describe(gathered, found)),
      }));
      await this.query(keepProblemsSql(header, kept));
    }
  }
}

type WriteOrigin = { actor: string; changeRequestId: number; approvedBy: number | undefined };

function describe({ parts, rules }: Gathered, found: FoundProblem): Problem {
  const place = found.row === null ? {} : rowOf(found.row);
  if (found.problem) return { ...found.problem, ...place };
  const part = parts.findIndex(({ table }) => table.table_definition_id === found.table_definition_id);
  const question = rules[part]?.questions[found.question as number];
  if (!question) throw new Error(`no question ${found.question} of table ${found.table_definition_id}`);
  return { ...question.problem({ id: found.row }, Number(found.other)), ...place };
}

const nothing: Omit<Applied, 'revision'> = { status: 'refused', problems: [], problem_count: 0, tables: [], left: 0 };

const outdated: RequestProblem = {
  operation_id: 0,
  table_definition_id: 0,
  table: '',
  code: 'not_reviewed',
  message: 'What would be applied has changed since it was reviewed.',
};

const wrongState = (message: string) => new ServiceError('wrong_state', { code: 'wrong_state', message });
