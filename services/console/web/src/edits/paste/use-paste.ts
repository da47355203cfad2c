// A paste into the grid: read, planned, and done at once when it is small and plain.
import { useLingui } from '@lingui/react/macro';
import { useState } from 'react';
import type { Table } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { readTsv } from '../../cells/tsv.ts';
import { habitsOf, type TypingHabits } from '../../cells/typed-values.ts';
import type { EditLook } from '../../grid/editing.ts';
import type { GridPlace } from '../../grid/grid.tsx';
import type { RowQuery, RowWindow } from '../../grid/row-source.ts';
import { localeOf } from '../../language/language.ts';
import { addRows, newRows, setCells } from '../edits.ts';
import type { EditedTable } from '../use-edits.ts';
import { type PastePlan, type PasteShape, planPaste, shapeOf } from './paste-plan.ts';
import { longestPaste, readPaste } from './read-paste.ts';

export type PlannedPaste = { shape: PasteShape; plan: PastePlan };

type PasteContext = {
  table: Table;
  tables: readonly Table[];
  query: RowQuery;
  view: Pick<RowWindow, 'filters' | 'sort'>;
  edited: EditedTable;
  look: EditLook;
  /** Takes what is too long for a paste, as a file. */
  onLong: (file: File) => void;
};

type Pasted = { cells: string[][]; place: GridPlace; columns: string[] };

// What one sees at a glance needs no plan shown.
const plainCells = 50;

export type Pasting = ReturnType<typeof usePaste>;

export function usePaste(context: PasteContext) {
  const { i18n } = useLingui();
  const { edited, onLong } = context;
  const [planned, setPlanned] = useState<PlannedPaste>();
  const apply = ({ plan }: PlannedPaste) => {
    edited.change((edits) => addRows(setCells(edits, plan.changes), plan.created));
    setPlanned(undefined);
  };
  const habits = habitsOf(localeOf(i18n.locale));
  const read = useAct((pasted: Pasted) => planOf(pasted, context, habits), {
    changes: [],
    onDone: (found) => {
      const { shape, plan } = found;
      const isPlain = plan.changes.length <= plainCells && plan.created.length === 0 && shape.ignored.length === 0;
      if (isPlain && shape.by === 'place') apply(found);
      else setPlanned(found);
    },
  });
  return {
    paste(text: string, place: GridPlace, columns: string[]) {
      const cells = readTsv(text);
      if (cells.length <= longestPaste) read.mutate({ cells, place, columns });
      else onLong(new File([text], 'pasted.tsv', { type: 'text/tab-separated-values' }));
    },
    isReading: read.isPending,
    error: read.error,
    planned,
    apply: () => planned && apply(planned),
    cancel: () => setPlanned(undefined),
  };
}

async function planOf(
  { cells, place, columns }: Pasted,
  { table, tables, query, view, edited, look }: PasteContext,
  habits: TypingHabits,
): Promise<PlannedPaste> {
  const inOrder = columns.flatMap((name) => table.column_definitions.find((column) => column.name === name) ?? []);
  // JSON is edited in the row.
  const editable = inOrder.filter(({ data_type }) => data_type !== 'json');
  const shape = shapeOf(cells, editable, place.column);
  const start = place.isNew ? undefined : place.row;
  const { lines, rows } = await readPaste(shape, { table, tables, query, view, start }, habits);
  const isIntoNew = place.isNew && shape.by === 'place';
  return { shape, plan: planPaste(lines, isIntoNew ? newRows(edited.edits).slice(place.row) : rows, look.shown) };
}
