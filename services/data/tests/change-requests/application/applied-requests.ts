// Change requests as tests make them: operations written as the service stores them, each based on
// the row as it is when it is made.
import { caller, type DataNet, type TableInput } from '../../given.ts';

export type Cell = string | number | null;
export type TestOperation = {
  table: TableInput;
  kind: 'create' | 'update' | 'delete' | 'restore';
  /** The row; of a new one none. */
  id?: number;
  cells?: Record<string, Cell>;
  decision?: 'undecided' | 'accepted' | 'rejected' | 'returned';
  problems?: object[];
};

let last = 0;

/** An id that no other request of the file has. */
export function nextRequest(): number {
  last += 1;
  return last;
}

export const requester = 41;
export const approver = 42;

export const lineageOf = (table: TableInput, name: string): number => {
  const place = table.columns.findIndex((column) => column.name === name);
  return table.columns[place]?.lineage_id ?? (table.lineage_id ?? table.id) * 1000 + place + 1;
};

/** Opens a request under review with these operations, and answers their ids in order. */
export async function givenRequest(
  net: Pick<DataNet, 'metadata' | 'query'>,
  id: number,
  operations: TestOperation[],
  phase = 'review',
): Promise<number[]> {
  await net.metadata.OpenChangeRequest(caller, { change_request_id: id, branch_id: 1, created_by: requester });
  const ids: number[] = [];
  for (const { table, kind, id: row, cells = {}, decision = 'accepted', problems = [] } of operations) {
    const proposed = Object.fromEntries(
      Object.entries(cells).map(([name, cell]) => [lineageOf(table, name), cell === null ? null : String(cell)]),
    );
    const base = table.columns.map(({ name }) => {
      const lineage = lineageOf(table, name);
      return `'${lineage}', t.c_${lineage}::text`;
    });
    const [made] = await net.query(
      `insert into change_request_operation (account_id, change_request_id, table_definition_id, kind, svc_sk, base_version, cells, base, decision, problems)
       select 1, $1, $2, $3, $4::bigint, t.svc_version, $5::jsonb, case when t.svc_sk is null then '{}' else jsonb_build_object(${base.join(', ')}) end, $6, $7::jsonb
       from (values (true)) one left join b_1.t_${table.lineage_id ?? table.id} t on t.svc_sk = $4::bigint returning id::int`,
      [id, table.id, kind, row ?? null, JSON.stringify(proposed), decision, JSON.stringify(problems)],
    );
    ids.push(made?.id as number);
  }
  await net.query('update change_request set phase = $2, operation_count = $3 where account_id = 1 and id = $1', [
    id,
    phase,
    operations.length,
  ]);
  return ids;
}

/** Applies a request as metadata does. */
export function apply(
  net: Pick<DataNet, 'metadata'>,
  id: number,
  { applyId = `apply-${id}`, revision = '', rest = id + 100_000 } = {},
) {
  return net.metadata.ApplyChangeRequest(
    caller,
    {
      apply_id: applyId,
      change_request_id: id,
      revision,
      requested_by: requester,
      approved_by: approver,
      rest_request_id: rest,
    },
    { deadlineMs: 60_000 },
  );
}

/** Rehearses it as a caller does; the answer of 200. */
export async function rehearse(net: Pick<DataNet, 'call'>, id: number) {
  const { status, body } = await net.call('POST', `/api/v1/change_requests/${id}/rehearse`);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

/** The problems of a rehearsal, each with the place of its operation among `ids`. */
export async function problemsOf(
  net: Pick<DataNet, 'call'>,
  id: number,
  ids: number[],
): Promise<[number, string, string][]> {
  const { problems } = await rehearse(net, id);
  return problems.map(({ operation_id, code, message }: { operation_id: number; code: string; message: string }) => [
    ids.indexOf(operation_id),
    code,
    message,
  ]);
}

/** What is stored with the operations of a request. */
export const stored = (net: Pick<DataNet, 'query'>, id: number) =>
  net.query(
    'select id::int, kind, decision, problems, comment from change_request_operation where account_id = 1 and change_request_id = $1 order by id',
    [id],
  );
