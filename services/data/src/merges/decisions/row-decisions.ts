// What people have decided about the rows of a promotion, one by one. A decision is kept under the
// digest of the row's key, so that a merge finds it whatever becomes of the rows.
import { limits } from '@almanac/service-kit/limits';
import type { Sql } from '@almanac/service-kit/postgres/database';
import { isDroppedSql } from '../../deployments/dropped-tables-sql.ts';
import { joinedSql } from '../../rows/answer-size.ts';
import { instantSql, textJsonSql } from '../../rows/json-members-sql.ts';
import { concatSql, type Statement, Values } from '../../sql/statement.ts';
import type { DeployedTable } from '../../tables/table.ts';
import type { Bind } from '../../values/check.ts';

export const rowDecisions = ['undecided', 'accepted', 'rejected'] as const;
export type RowDecision = (typeof rowDecisions)[number];

/** A promotion and its table on the source branch; promotion 0, which is none, has no decisions. */
type Decided = { source: Pick<DeployedTable, 'account_id' | 'table_definition_id'>; promotionId: number };

const digestSql = (keyTexts: string) => `md5((${keyTexts})::text)`;

const placeSql = ({ source, promotionId }: Decided, bind: Bind) =>
  `w.account_id = ${bind(source.account_id, 'int')} and w.promotion_id = ${bind(promotionId, 'int')}` +
  ` and w.table_definition_id = ${bind(source.table_definition_id, 'int')}`;

/** Joins the decisions (`w`) to rows by the texts of their keys. */
export const joinDecisionsSql = (decided: Decided, keyTexts: string, bind: Bind): string =>
  ` left join promotion_row_decision w on ${placeSql(decided, bind)} and w.key_digest = ${digestSql(keyTexts)}`;

/** What the join adds to a row. */
export const decisionColumns = [
  `coalesce(w.decision, 'undecided') as decision`,
  'w.comment as decision_comment',
  'w.decided_by',
  'w.decided_at',
];

/** The members of a decision in the JSON of a row, as parts of a text. */
export const decisionMembers = (comment: string): string[] => [
  `'"decision":"'`,
  'decision',
  `'","comment":'`,
  textJsonSql(comment),
  `',"decided_by":'`,
  `coalesce(decided_by::text, 'null')`,
  `',"decided_at":'`,
  instantSql('decided_at'),
];

/** No decision takes more bytes of JSON; a control character becomes six letters. */
export const maxDecisionBytes = 200 + 6 * limits.descriptionCodePoints;

type Verdict = { decision: RowDecision; comment: string | undefined; userId: number | undefined };

/**
 * Decides the rows of the relation `from`, and counts them as `decided`; another decision on them
 * is replaced. `keyTexts` and `keyJson`: expressions over it.
 */
export function decideSql(
  decided: Decided,
  { from, keyTexts, keyJson }: { from: string; keyTexts: string; keyJson: string },
  { decision, comment, userId }: Verdict,
  bind: Bind,
): string {
  const wanted = `with wanted as materialized (select ${digestSql(keyTexts)} as key_digest, (${keyJson})::jsonb as key from ${from})`;
  const counted = 'select count(*)::int as decided from wanted';
  if (decision === 'undecided')
    return (
      `${wanted}, deleted as (delete from promotion_row_decision w using wanted` +
      ` where ${placeSql(decided, bind)} and w.key_digest = wanted.key_digest) ${counted}`
    );
  const { source, promotionId } = decided;
  const values = [
    bind(source.account_id, 'int'),
    bind(promotionId, 'int'),
    bind(source.table_definition_id, 'int'),
    'key_digest',
    'key',
    bind(decision, 'text'),
    bind(comment ?? null, 'text'),
    bind(userId ?? null, 'int'),
    'now()',
  ];
  const replaced = ['decision', 'comment', 'decided_by', 'decided_at'].map((name) => `${name} = excluded.${name}`);
  return (
    `${wanted}, kept as (insert into promotion_row_decision` +
    ` (account_id, promotion_id, table_definition_id, key_digest, key, decision, comment, decided_by, decided_at)` +
    ` select ${values.join(', ')} from wanted on conflict (account_id, promotion_id, table_definition_id, key_digest)` +
    ` do update set ${replaced.join(', ')}) ${counted}`
  );
}

type DecisionWindow = {
  accountId: number;
  promotionId: number;
  tableIds: number[];
  /** Undefined: both. */
  decision: RowDecision | undefined;
  offset: number;
  limit: number;
};

/**
 * One row: `answer`, the decisions of a window by table and key; `matching`, how many match. The
 * statement fails when the window exceeds an answer.
 */
export function listDecisionsSql(window: DecisionWindow): Statement {
  const { bind, list } = new Values();
  const where = [
    `account_id = ${bind(window.accountId, 'int')} and promotion_id = ${bind(window.promotionId, 'int')}`,
    `table_definition_id = any(${bind(window.tableIds, 'int[]')})`,
    ...(window.decision === undefined ? [] : [`decision = ${bind(window.decision, 'text')}`]),
  ].join(' and ');
  const members = [`'{"table_definition_id":'`, 'table_definition_id', `',"key":'`, 'key', `','`];
  const shown = concatSql([...members, ...decisionMembers('comment'), `'}'`]);
  const page =
    `(select * from promotion_row_decision where ${where} order by table_definition_id, key, key_digest` +
    ` limit ${bind(window.limit, 'int')} offset ${bind(window.offset, 'bigint')}) p`;
  return {
    text:
      `select ${joinedSql(shown, page, true)} as answer,` +
      ` (select count(*)::int from promotion_row_decision where ${where}) as matching`,
    values: list,
  };
}

/** Deletes the decisions on tables that can't be restored, but those of arriving accounts. */
export async function sweepRowDecisions(sql: Sql): Promise<void> {
  await sql(
    `delete from promotion_row_decision w where ${isDroppedSql('w.table_definition_id')}
     and not exists (select from arriving_account a where a.account_id = w.account_id)`,
  );
}
