// What the tests of comparisons ask, and the same worked out from the rows of both sides in plain
// JavaScript.
import type { Call } from '@almanac/testkit/calls/call';

export type Side = { branch_id?: number; as_of?: string; change_request_id?: number; import_table_id?: number };
type Row = Record<string, unknown>;
export type Difference = { kind: string; key: Row; id_left: number | null; id_right: number | null; cells: Row };

/** Compares, and answers status and body. */
export const compare = (call: Call, table: number, left: Side, right: Side, more: Record<string, unknown> = {}) =>
  call('POST', '/api/v1/table_data/diff', {
    table_definition_id: table,
    left,
    right,
    startRow: 0,
    endRow: 1000,
    ...more,
  });

/** The live rows of a table, at an instant or through a change request. */
export async function liveRows(call: Call, table: number, asOf?: string, through?: number): Promise<Row[]> {
  const at = asOf === undefined ? '' : `&as_of=${asOf}`;
  const by = through === undefined ? '' : `&change_request_id=${through}`;
  const answer = await call('GET', `/api/v1/table_data?table_definition_id=${table}&per_page=1000${at}${by}`);
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

/** The differences of two lists of rows, in the order of their key. */
export function differencesOf(left: Row[], right: Row[], key: string, columns: string[]): Difference[] {
  const byKey = (rows: Row[]) => new Map(rows.map((row) => [String(row[key]), row]));
  const [before, after] = [byKey(left), byKey(right)];
  const keys = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return keys.flatMap((each) => {
    const [from, to] = [before.get(each), after.get(each)];
    const cells = columns
      .filter((column) => (from?.[column] ?? null) !== (to?.[column] ?? null))
      .map((column) => [column, { from: from?.[column] ?? null, to: to?.[column] ?? null }]);
    const kind = !from ? 'created' : !to ? 'deleted' : 'updated';
    if (kind === 'updated' && cells.length === 0) return [];
    return {
      kind,
      key: { [key]: each },
      id_left: (from?.svc_sk as number | undefined) ?? null,
      id_right: (to?.svc_sk as number | undefined) ?? null,
      cells: Object.fromEntries(cells),
    };
  });
}

/** The counts of such a list. */
export function countsOf(differences: Difference[]) {
  const of = (kind: string) => differences.filter((each) => each.kind === kind);
  const columns = of('updated').flatMap(({ cells }) => Object.keys(cells));
  const counted = [...new Set(columns)].map((name) => [name, columns.filter((each) => each === name).length]);
  return {
    created: of('created').length,
    updated: of('updated').length,
    deleted: of('deleted').length,
    columns: Object.fromEntries(counted),
  };
}
