// What people have decided about the rows of a promotion, one by one. A decision is kept under the
// digest of the row's key, so that a merge finds it whatever becomes of the rows.
import type { Sql } from '@almanac/service-kit/postgres/database';
import { instantSql, textJsonSql } from '../../rows/json-members-sql.ts';
import { concatSql, type Statement, Values } from '../../sql/statement.ts';
import type { Bind } from '../../values/check.ts';

export const rowDecisions = ['undecided', 'accepted', 'rejected'] as const;
export type RowDecision = (typeof rowDecisions)[number];

/** A promotion, and its table on the source branch. */
export type Decided = { account_id: number; table_definition_id: number; promotionId: number };

/** Whether rows of the table are decided in the promotion; in 0, which is none, they are not. */
export async function hasRowDecisions(
  sql: Sql,
  { account_id, table_definition_id, promotionId }: Decided,
): Promise<boolean> {
  if (promotionId === 0) return false;
  const { rows } = await sql(
    `select from promotion_row_decision where account_id = $1::int and promotion_id = $2::int and table_definition_id = $3::int limit 1`,
    [account_id, promotionId, table_definition_id],
  );
  return rows.length > 0;
}

const digestSql = (keyTexts: string) => `md5((${keyTexts})::text)`;

/** The columns of a decision; of rows without one when nothing of the table is decided. */
export const decisionColumns = (isDecided: boolean): string[] =>
  isDecided
    ? [`coalesce(w.decision, 'undecided') as decision`, 'w.comment as decision_comment', 'w.decided_by', 'w.decided_at']
    : [
        `'undecided' as decision`,
        'null::text as decision_comment',
        'null::int as decided_by',
        'null::timestamptz as decided_at',
      ];

/** Joins the decisions (`w`) to rows by the texts of their keys. */
export const joinDecisionsSql = (decided: Decided, keyTexts: string, bind: Bind): string =>
  ` left join promotion_row_decision w on ${placeSql(decided, bind)} and w.key_digest = ${digestSql(keyTexts)}`;

const placeSql = ({ account_id, table_definition_id, promotionId }: Decided, bind: Bind) =>
  `w.account_id = ${bind(account_id, 'int')} and w.promotion_id = ${bind(promotionId, 'int')}` +
  ` and w.table_definition_id = ${bind(table_definition_id, 'int')}`;

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
  const wanted = `select ${digestSql(keyTexts)} as key_digest, (${keyJson})::jsonb as key from ${from}`;
  const counted = 'select count(*)::int as decided from wanted';
  if (decision === 'undecided')
    return (
      `with wanted as materialized (${wanted}), deleted as (delete from promotion_row_decision w using wanted` +
      ` where ${placeSql(decided, bind)} and w.key_digest = wanted.key_digest) ${counted}`
    );
  const values = [
    bind(decided.account_id, 'int'),
    bind(decided.promotionId, 'int'),
    bind(decided.table_definition_id, 'int'),
    'key_digest',
    'key',
    bind(decision, 'text'),
    bind(comment ?? null, 'text'),
    bind(userId ?? null, 'int'),
    'now()',
  ];
  const replaced = ['decision', 'comment', 'decided_by', 'decided_at'].map((name) => `${name} = excluded.${name}`);
  return (
    `with wanted as materialized (${wanted}), kept as (insert into promotion_row_decision` +
    ` (account_id, promotion_id, table_definition_id, key_digest, key, decision, comment, decided_by, decided_at)` +
    ` select ${values.join(', ')} from wanted on conflict (account_id, promotion_id, table_definition_id, key_digest)` +
    ` do update set ${replaced.join(', ')}) ${counted}`
  );
}

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

type DecisionWindow = {
  accountId: number;
  promotionId: number;
  tableIds: number[];
  /** Undefined: both. */
  decision: string | undefined;
  offset: number;
  limit: number;
};

/** One row: `answer`, the decisions of a window by table and key; `matching`, how many match. */
export function listDecisionsSql(window: DecisionWindow): Statement {
  const { bind, list } = new Values();
  const where = [
    `account_id = ${bind(window.accountId, 'int')} and promotion_id = ${bind(window.promotionId, 'int')}`,
    `table_definition_id = any(${bind(window.tableIds, 'int[]')})`,
    ...(window.decision === undefined ? [] : [`decision = ${bind(window.decision, 'text')}`]),
  ].join(' and ');
  const shown = concatSql([
    `'{"table_definition_id":'`,
    'table_definition_id',
    `',"key":'`,
    'key',
    `','`,
    ...decisionMembers('comment'),
    `'}'`,
  ]);
  const page = `order by table_definition_id, key, key_digest limit ${bind(window.limit, 'int')} offset ${bind(window.offset, 'bigint')}`;
  return {
    text:
      `select (select count(*)::int from promotion_row_decision where ${where}) as matching,` +
      ` (select coalesce(string_agg(json, ',' order by place), '') from` +
      ` (select row_number() over (order by table_definition_id, key, key_digest) as place, ${shown} as json` +
      ` from promotion_row_decision where ${where} ${page}) shown) as answer`,
    values: list,
  };
}

/** Deletes the decisions on tables that can't be restored. */
export async function sweepRowDecisions(sql: Sql): Promise<void> {
  await sql(
    `delete from promotion_row_decision w
     where not exists (select from deployed_table d where d.table_definition_id = w.table_definition_id)
     and not exists (select from retired_table r where r.table_definition_id = w.table_definition_id)
     and not exists (select from arriving_account a where a.account_id = w.account_id)`,
  );
}
