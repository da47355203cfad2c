// The editor of a cell in place: a field with the value as people type it.
import type { ICellEditorComp, ICellEditorParams } from 'ag-grid-community';
import type { Row } from '../../api/queries.ts';
import type { EditedValue } from './edited-value.ts';

export type TextEditorParams = {
  /** The value as it is typed. */
  textOf: (value: unknown) => string;
  read: (text: string) => unknown;
};

export class TextEditor implements ICellEditorComp<Row> {
  private params!: ICellEditorParams<Row> & TextEditorParams;
  private readonly field = document.createElement('input');
  private initial = '';

  init(params: ICellEditorParams<Row> & TextEditorParams): void {
    this.params = params;
    this.initial = params.textOf(params.value);
    const { eventKey } = params;
    const isTyped = eventKey !== null && [...eventKey].length === 1;
    this.field.value = isTyped ? eventKey : this.initial;
    this.field.className = 'cell-field';
    this.field.ariaLabel = params.column.getColId();
  }

  getGui(): HTMLElement {
    return this.field;
  }

  afterGuiAttached(): void {
    this.field.focus();
    // What was typed goes on; a value that is edited is selected, so that typing replaces it.
    if (this.field.value === this.initial) this.field.select();
  }

  getValue(): EditedValue {
    return { value: this.params.read(this.field.value), label: undefined };
  }

  /** What was not touched is not changed: its text may show less than the value has. */
  isCancelAfterEnd(): boolean {
    return this.field.value === this.initial;
  }
}
