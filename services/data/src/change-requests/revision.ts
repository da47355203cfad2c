// The revision of a change request: what an approver has seen. Another one says that something of
// what would be applied has changed since: an operation, a row concerned, or a table.
import type { Sql } from '@almanac/service-kit/postgres/database';
import { standingSql } from '../rows/proposed-sql.ts';
import { tableName } from '../sql/identifiers.ts';
import { Values } from '../sql/statement.ts';

/**
 * A hash of the operations that would be applied: their cells, the present versions of their rows,
 * and the structures of their tables. Approval accepts the undecided, and so keeps the revision.
 * The transaction should see one snapshot.
 */
export async function revisionOf(sql: Sql, accountId: number, changeRequestId: number): Promise<string> {
  const { rows: tables } = await sql(
    `select d.table_definition_id, d.branch_id, d.lineage_id from deployed_table d where d.account_id = $1::int and exists (
       select from change_request_operation o where o.account_id = $1::int and o.change_request_id = $2::int
         and o.table_definition_id = d.table_definition_id)
       and d.branch_id = (select branch_id from change_request where account_id = $1::int and id = $2::int)`,
    [accountId, changeRequestId],
  );
  const values = new Values();
  const account = values.bind(accountId, 'int');
  const request = values.bind(changeRequestId, 'int');
  const operations = (among: string) =>
    `from change_request_operation o %join% where o.account_id = ${account} and o.change_request_id = ${request} and ${standingSql('o')} and ${among}`;
  const own = `'', o.id, o.table_definition_id, o.kind, o.svc_sk, o.base_version, o.cells::text`;
  const deployed = tables.map((row) => row.table_definition_id as number);
  const parts = [
    `select o.id, md5(concat_ws(':', ${own}, 'not deployed')) as hash ${operations(`o.table_definition_id <> all(${values.bind(deployed, 'int[]')})`).replace('%join%', '')}`,
    ...tables.map(({ table_definition_id, branch_id, lineage_id }) => {
      const name = tableName({ branch_id: branch_id as number, lineage_id: lineage_id as number });
      const among = `o.table_definition_id = ${values.bind(table_definition_id, 'int')}`;
      return (
        `select o.id, md5(concat_ws(':', ${own}, t.svc_version, t.svc_is_deleted)) as hash ` +
        operations(among).replace('%join%', `left join ${name} t on t.svc_sk = o.svc_sk`)
      );
    }),
  ];
  const structures = `select string_agg(md5(d.structure::text), ':' order by d.table_definition_id) from deployed_table d where d.account_id = ${account} and d.table_definition_id = any(${values.bind(deployed, 'int[]')})`;
  const { rows } = await sql(
    `select encode(sha256(convert_to(concat_ws(':', (${structures}), (select string_agg(hash, '' order by id) from (${parts.join(' union all ')}) h)), 'UTF8')), 'hex') as revision`,
    values.list,
  );
  return rows[0]?.revision as string;
}
