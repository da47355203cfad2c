// How cells of the grid are edited. The grid changes nothing itself: it asks, and shows the rows
// with the edits that it is given.
import type { CellClassRules, ColDef, GridOptions, SuppressKeyboardEventParams } from 'ag-grid-community';
import type { Column, Row } from '../api/queries.ts';
import { isNumeric, plainText, validValues } from '../cells/cell-text.ts';
import { readTyped, type TypingHabits } from '../cells/typed-values.ts';
import { type Choice, ChoiceEditor, type ChoiceEditorParams } from './editors/choice-editor.ts';
import { TextEditor, type TextEditorParams } from './editors/text-editor.ts';

/** How rows look with their edits; asked for each cell that is drawn. */
export type EditLook = {
  shown: (row: Row) => Row;
  canEdit: (row: Row) => boolean;
  isChanged: (row: Row, column: string) => boolean;
  isDeleted: (row: Row) => boolean;
  /** Why the cell, or its row, was refused. */
  problem: (row: Row, column: string) => string | undefined;
};

export type EditorSettings = {
  look: EditLook;
  habits: TypingHabits;
  offer: (column: Column, search: string, signal: AbortSignal) => Promise<Choice[]>;
  texts: ChoiceEditorParams['texts'];
};

/** Whether the values of a column are chosen from a list. */
export const isChosen = (column: Column) =>
  column.data_type === 'boolean' || column.foreign_key_table_id !== null || validValues(column).length > 0;

/** What makes a column editable. JSON is edited in the row, where there is room for it. */
export function editedColumn(column: Column, { look, habits, offer, texts }: EditorSettings): ColDef<Row> {
  const read = (text: string) => readTyped(text, column, habits);
  const textOf = (value: unknown) =>
    isNumeric(column) ? plainText(value).replace('.', habits.signs.decimal) : plainText(value);
  const text: TextEditorParams = { textOf, read };
  const choice: ChoiceEditorParams = { ...text, texts, offer: (search, signal) => offer(column, search, signal) };
  const rules: CellClassRules<Row> = {
    'cell-edited': ({ data }) => data !== undefined && look.isChanged(data, column.name),
    'cell-problem': ({ data }) => data !== undefined && look.problem(data, column.name) !== undefined,
    'cell-deleted': ({ data }) => data !== undefined && look.isDeleted(data),
  };
  return {
    editable: ({ data }) => column.data_type !== 'json' && data !== undefined && look.canEdit(data),
    cellClassRules: rules,
    cellEditor: isChosen(column) ? ChoiceEditor : TextEditor,
    cellEditorParams: isChosen(column) ? choice : text,
  };
}

export const editingOptions: GridOptions<Row> = {
  readOnlyEdit: true,
  stopEditingWhenCellsLoseFocus: true,
  enterNavigatesVerticallyAfterEdit: true,
  // Tab leaves the grid, whose cells are reached by arrows; in an editor it goes to the next cell.
  tabToNextCell: ({ editing, nextCellPosition }) => editing && nextCellPosition !== null && nextCellPosition,
  tabToNextHeader: () => false,
  defaultColDef: { suppressKeyboardEvent },
};

// These keys are those of the table: they clear and delete, and open the row beside it.
function suppressKeyboardEvent({ editing, event: { key, altKey } }: SuppressKeyboardEventParams<Row>): boolean {
  if (editing) return false;
  return key === 'Delete' || key === 'Backspace' || (key === 'Enter' && altKey);
}
