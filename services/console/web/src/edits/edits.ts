// The changes of rows that a person has made and not saved yet. Pure: a change makes new edits.
import type { Column, Row } from '../api/queries.ts';
import { plainText } from '../cells/cell-text.ts';

/** Values by column, as the API takes them. */
export type Values = Record<string, unknown>;

/** What is to be done to one row. */
export type RowEdit = {
  kind: 'create' | 'update' | 'delete';
  /** The `svc_sk` of the row; negative for a new one. */
  id: number;
  /** The row when it was changed first; null for a new one. */
  before: Row | null;
  values: Values;
  /** What references show that were chosen by their labels, by column. */
  labels: Record<string, string>;
};

export type Edits = ReadonlyMap<number, RowEdit>;

/** A new value for a cell of a row. */
export type CellChange = { row: Row; column: string; value: unknown; label?: string | undefined };

/** What an act on many cells would change, before it does. */
export type EditPlan = {
  changes: CellChange[];
  created: Values[];
  /** Lines or rows that change nothing: they have these values already. */
  unchanged: number;
};

export const noEdits: Edits = new Map();

/** Sets cells. A value that the row has anyway is no change. */
export function setCells(edits: Edits, changes: readonly CellChange[]): Edits {
  const next = new Map(edits);
  for (const { row, column, value, label } of changes) {
    const id = row.svc_sk;
    const edit: RowEdit = next.get(id) ?? { kind: 'update', id, before: row, values: {}, labels: {} };
    if (edit.kind === 'delete') continue;
    const { [column]: _, ...otherLabels } = edit.labels;
    const labels = label === undefined ? otherLabels : { ...otherLabels, [column]: label };
    keep(next, { ...edit, values: { ...edit.values, [column]: value }, labels });
  }
  return next;
}

/** Whether a new row leaves a required column blank. */
export const lacks = (values: Values, { name, is_required, is_primary_key }: Column): boolean =>
  (is_required || is_primary_key) && (values[name] ?? null) === null;

/** The id that the next new row gets: negative, and less than all before. */
export const nextRowId = (edits: Edits): number => Math.min(0, ...edits.keys()) - 1;

/** Adds new rows. */
export function addRows(edits: Edits, rows: readonly Values[]): Edits {
  const next = new Map(edits);
  let id = nextRowId(edits);
  for (const values of rows) {
    next.set(id, { kind: 'create', id, before: null, values, labels: {} });
    id -= 1;
  }
  return next;
}

/**
 * Gives rows the values that they had; a row that is deleted now becomes a new one. `current` has
 * the rows as they are now, by id.
 */
export function bringBack(
  edits: Edits,
  past: readonly Row[],
  { current, columns }: { current: ReadonlyMap<number, Row>; columns: readonly string[] },
): Edits {
  const deleted = past.filter(({ svc_sk }) => !current.has(svc_sk));
  const changes = past.flatMap((row): CellChange[] => {
    const now = current.get(row.svc_sk);
    if (!now) return [];
    return columns.map((column) => {
      const label = row.svc_lookups?.[column];
      return { row: now, column, value: row[column] ?? null, label: label === undefined ? label : plainText(label) };
    });
  });
  const valuesOf = (row: Row) => Object.fromEntries(columns.map((column) => [column, row[column] ?? null]));
  return addRows(setCells(edits, changes), deleted.map(valuesOf));
}

/** Marks rows to be deleted; new rows go at once. */
export function deleteRows(edits: Edits, rows: readonly Row[]): Edits {
  const next = new Map(edits);
  for (const row of rows) {
    const id = row.svc_sk;
    if (id < 0) next.delete(id);
    else next.set(id, { kind: 'delete', id, before: next.get(id)?.before ?? row, values: {}, labels: {} });
  }
  return next;
}

/** The edits without those of these rows. */
export function dropRows(edits: Edits, ids: Iterable<number>): Edits {
  const next = new Map(edits);
  for (const id of ids) next.delete(id);
  return next;
}

/** The edits without the change of one cell. */
export function dropCell(edits: Edits, id: number, column: string): Edits {
  const edit = edits.get(id);
  if (!edit) return edits;
  const { [column]: _, ...values } = edit.values;
  const next = new Map(edits);
  keep(next, { ...edit, values });
  return next;
}

/**
 * Puts the edit of a row on the row as it is now: what equals it is no change any more. The labels
 * of references that have not changed are those of before.
 */
export function rebase(edits: Edits, current: Row): Edits {
  const edit = edits.get(current.svc_sk);
  if (!edit) return edits;
  const labels = Object.entries(edit.before?.svc_lookups ?? {});
  const kept = labels.filter(([column]) => isSame(current[column], edit.before?.[column]));
  const next = new Map(edits);
  keep(next, { ...edit, before: { svc_lookups: Object.fromEntries(kept), ...current } });
  return next;
}

/**
 * The edits once some are saved. A row that was changed again since keeps those changes, on the
 * row that was saved.
 */
export function withoutSaved(edits: Edits, sent: Edits, saved: ReadonlyMap<number, Row>): Edits {
  let next = edits;
  for (const [id, edit] of sent) {
    const record = saved.get(id);
    if (edits.get(id) === edit || !record) next = dropRows(next, [id]);
    else next = rebase(next, record);
  }
  return next;
}

/** The row as the person sees it: with its edit. */
export function shownRow(row: Row, edit: RowEdit | undefined): Row {
  if (!edit || edit.kind === 'delete') return row;
  const kept = Object.entries(row.svc_lookups ?? {}).filter(([column]) => !(column in edit.values));
  return { ...row, ...edit.values, svc_lookups: { ...Object.fromEntries(kept), ...edit.labels } };
}

/** The new rows, the latest first, as rows that a grid can show. */
export function newRows(edits: Edits): Row[] {
  return [...edits.values()]
    .filter(({ kind }) => kind === 'create')
    .map(({ id, values }) => ({ svc_sk: id, ...values }) as unknown as Row)
    .toSorted((a, b) => a.svc_sk - b.svc_sk);
}

export function isChanged(edit: RowEdit | undefined, column: string): boolean {
  return edit !== undefined && column in edit.values;
}

/** Whether two values are the same to the API: texts of digits and numbers are alike. */
export function isSame(a: unknown, b: unknown): boolean {
  return (a ?? null) === null || (b ?? null) === null
    ? (a ?? null) === (b ?? null)
    : typeof a === typeof b || (isScalar(a) && isScalar(b))
      ? plainText(a) === plainText(b)
      : false;
}

const isScalar = (value: unknown) => typeof value === 'string' || typeof value === 'number';

function keep(edits: Map<number, RowEdit>, edit: RowEdit): void {
  if (edit.kind !== 'update') {
    edits.set(edit.id, edit);
    return;
  }
  const values = Object.entries(edit.values).filter(([column, value]) => !isSame(value, edit.before?.[column]));
  if (values.length === 0) edits.delete(edit.id);
  else edits.set(edit.id, { ...edit, values: Object.fromEntries(values) });
}
