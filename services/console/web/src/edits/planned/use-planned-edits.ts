// Edits of many cells at once: a paste, a fill, a range that is cleared. They are planned first,
// and done at once when they are small and plain.
import { useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import type { Row, Table } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { plainText } from '../../cells/cell-text.ts';
import { readTsv, writeTsv } from '../../cells/tsv.ts';
import { habitsOf } from '../../cells/typed-values.ts';
import type { EditLook } from '../../grid/editing.ts';
import { type CellRange, type GridPlace, type RangeFill, repeatedInto, rowsOf } from '../../grid/range/cell-range.ts';
import { localeOf } from '../../language/locale.ts';
import { addRows, type EditPlan, newRows, setCells } from '../edits.ts';
import { type PasteShape, planPaste, shapeOf } from '../paste/paste-plan.ts';
import { findByPlace, longestPaste, type PastePlace, readPaste } from '../paste/read-paste.ts';
import type { EditedTable } from '../use-edits.ts';

export type PlannedEdits = { plan: EditPlan } & (
  | { kind: 'paste'; shape: PasteShape }
  | { kind: 'fill' | 'clear'; shape?: undefined }
);

type Context = PastePlace & {
  table: Table;
  /** The rows of a range as one sees them; undefined where they are not loaded. */
  loaded: (range: CellRange) => (Row | undefined)[];
  edited: EditedTable;
  look: EditLook;
  /** Takes what is too long for a paste, as a file. */
  onLong: (file: File) => void;
};

/** Where cells are pasted: from the focused one, or into a range of more than one. */
export type PasteTarget = { place: GridPlace; range: CellRange | undefined; columns: readonly string[] };

// What one sees at a glance needs no plan shown.
const plainCells = 50;

export type Planning = ReturnType<typeof usePlannedEdits>;

export function usePlannedEdits(context: Context) {
  const { i18n, t } = useLingui();
  const { table, edited, look, loaded, onLong } = context;
  const [planned, setPlanned] = useState<PlannedEdits>();
  const apply = ({ plan }: PlannedEdits) => {
    if (plan.changes.length + plan.created.length > 0)
      edited.change((edits) => addRows(setCells(edits, plan.changes), plan.created));
    setPlanned(undefined);
  };
  const habits = habitsOf(localeOf(i18n.locale));
  const read = useAct((make: () => Promise<PlannedEdits>) => make(), {
    changes: [],
    onDone: (found) => {
      if (isPlain(found)) apply(found);
      else setPlanned(found);
    },
  });

  // JSON is edited in the row.
  const columns = table.column_definitions.filter(({ data_type }) => data_type !== 'json');
  const editable = new Map(columns.map((column) => [column.name, column]));
  const newOnes = () => newRows(edited.edits);
  const rowsIn = async (range: CellRange): Promise<Row[]> => {
    if (range.isNew) return newOnes().slice(range.top, range.bottom + 1);
    if (rowsOf(range) > longestPaste)
      throw new Error(
        t`A range may have ${longestPaste} rows. For more there are exports, imports and “Change all matches”.`,
      );
    return (await rowsAsSeen(range)).filter((row) => row !== undefined);
  };
  // What one sees may be older than what is there: no edit goes to a row that one does not see.
  const rowsAsSeen = async (range: CellRange): Promise<(Row | undefined)[]> => {
    const seen = loaded(range);
    if (seen.every((row) => row !== undefined)) return seen;
    const found = await findByPlace(range.top, rowsOf(range), context);
    if (seen.some((row, place) => row && row.svc_sk !== found[place]?.svc_sk))
      throw new Error(t`The rows have moved since they were loaded. Load them again, and repeat it.`);
    return found.map((row, place) => seen[place] ?? row);
  };

  const textOf = async (range: CellRange): Promise<Blob> => {
    const rows = (await rowsIn(range)).map((row) => look.shown(row));
    const text = writeTsv(rows.map((row) => range.columns.map((name) => plainText(row[name]))));
    return new Blob([text], { type: 'text/plain' });
  };
  // The browser waits for a text that is promised while it copies.
  const copyRange = (range: CellRange) =>
    navigator.clipboard.write([new ClipboardItem({ 'text/plain': textOf(range) })]);
  const copying = useAct(copyRange, { changes: [] });

  const planPasted = async (cells: string[][], { place, columns: names }: PasteTarget): Promise<PlannedEdits> => {
    const shape = shapeOf(cells, new Map(names.map((name) => [name, editable.get(name)])), place.column);
    const rowsAtPlaces = async (count: number) => {
      if (place.isNew) return newOnes().slice(place.row, place.row + count);
      return rowsAsSeen({ isNew: false, top: place.row, bottom: place.row + count - 1, columns: [] });
    };
    const { lines, rows } = await readPaste(shape, context, habits, rowsAtPlaces);
    return { kind: 'paste', shape, plan: planPaste(lines, rows, look.shown) };
  };
  const planFilled = async (fill: RangeFill, order: readonly string[]): Promise<PlannedEdits> => {
    const code = import('../fill/fill-plan.ts'); // few visits fill cells
    const [source, into, { planFill }] = await Promise.all([rowsIn(fill.source), rowsIn(fill.target), code]);
    const target = into.filter(look.canEdit);
    return { kind: 'fill', plan: planFill(fill, { columns: editable, order, source, target, shown: look.shown }) };
  };
  const planCleared = async (range: CellRange): Promise<PlannedEdits> => {
    const rows = (await rowsIn(range)).filter(look.canEdit);
    const blank = Object.fromEntries(range.columns.filter((name) => editable.has(name)).map((name) => [name, null]));
    return { kind: 'clear', plan: planPaste(Array(rows.length).fill(blank), rows, look.shown) };
  };

  return {
    paste(text: string, target: PasteTarget) {
      const cells = repeatedInto(readTsv(text), target.range);
      if (cells.length <= longestPaste) read.mutate(() => planPasted(cells, target));
      else onLong(new File([text], 'pasted.tsv', { type: 'text/tab-separated-values' }));
    },
    fill: (fill: RangeFill, order: readonly string[]) => read.mutate(() => planFilled(fill, order)),
    clear: (range: CellRange) => read.mutate(() => planCleared(range)),
    /** Copies a range whose rows are not loaded yet, with their edits. */
    copy: copying.mutate,
    isReading: read.isPending || copying.isPending,
    error: read.error ?? copying.error,
    planned,
    apply: () => planned && apply(planned),
    cancel: () => setPlanned(undefined),
  };
}

function isPlain({ shape, plan }: PlannedEdits): boolean {
  const isShort = plan.changes.length <= plainCells && plan.created.length === 0;
  return isShort && (shape === undefined || (shape.by === 'place' && shape.ignored.length === 0));
}
