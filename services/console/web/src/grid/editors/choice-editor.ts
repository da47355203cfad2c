// The editor of a cell whose values are offered: those of a list, or the rows of another table. A
// combobox: one types to search, moves by the arrows, and Enter takes.
import type { ICellEditorComp, ICellEditorParams } from 'ag-grid-community';
import type { Row } from '../../api/queries.ts';
import type { EditedValue } from './edited-value.ts';

export type Choice = { value: unknown; text: string; label?: string | undefined };

export type ChoiceEditorParams = {
  offer: (search: string, signal: AbortSignal) => Promise<Choice[]>;
  textOf: (value: unknown) => string;
  read: (text: string) => unknown;
  texts: { none: string; failed: string };
};

const typingMs = 150;
let lists = 0;

export class ChoiceEditor implements ICellEditorComp<Row> {
  private params!: ICellEditorParams<Row> & ChoiceEditorParams;
  private readonly gui = document.createElement('div');
  private readonly field = document.createElement('input');
  private readonly list = document.createElement('ul');
  private choices: Choice[] = [];
  private active = -1;
  private taken: Choice | undefined;
  private initial = '';
  private delay: ReturnType<typeof setTimeout> | undefined;
  private asked = new AbortController();

  init(params: ICellEditorParams<Row> & ChoiceEditorParams): void {
    this.params = params;
    this.initial = params.textOf(params.value);
    const { eventKey } = params;
    this.field.value = eventKey !== null && [...eventKey].length === 1 ? eventKey : this.initial;
    this.gui.className = 'choice-editor';
    this.list.id = `choices-${++lists}`;
    this.list.role = 'listbox';
    this.list.ariaLabel = params.column.getColId();
    this.field.className = 'cell-field';
    this.field.role = 'combobox';
    this.field.ariaLabel = params.column.getColId();
    this.field.ariaExpanded = 'true';
    this.field.setAttribute('aria-controls', this.list.id);
    this.field.autocomplete = 'off';
    this.field.addEventListener('input', () => {
      this.taken = undefined;
      clearTimeout(this.delay);
      this.delay = setTimeout(() => void this.load(this.field.value), typingMs);
    });
    this.gui.addEventListener('keydown', (event) => this.onKey(event));
    this.gui.append(this.field, this.list);
  }

  getGui(): HTMLElement {
    return this.gui;
  }

  isPopup(): boolean {
    return true;
  }

  afterGuiAttached(): void {
    this.gui.style.minWidth = `${Math.max(220, this.params.column.getActualWidth())}px`;
    this.field.focus();
    const isTyped = this.field.value !== this.initial;
    if (!isTyped) this.field.select();
    void this.load(isTyped ? this.field.value : '');
  }

  getValue(): EditedValue {
    const exact = this.choices.find(({ value, text }) => [String(value), text].includes(this.field.value.trim()));
    const taken = this.taken ?? exact;
    return taken ? { value: taken.value, label: taken.label } : { value: this.read(), label: undefined };
  }

  isCancelAfterEnd(): boolean {
    return this.taken === undefined && this.field.value === this.initial;
  }

  destroy(): void {
    clearTimeout(this.delay);
    this.asked.abort();
  }

  private read(): unknown {
    return this.params.read(this.field.value);
  }

  private onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      this.activate(Math.max(0, Math.min(this.choices.length - 1, this.active + step)));
    } else if (event.key === 'Enter' || event.key === 'Tab') this.take(this.choices[this.active]);
  }

  private take(choice: Choice | undefined): void {
    if (choice) this.taken = choice;
  }

  private activate(place: number): void {
    this.active = place;
    for (const [at, option] of [...this.list.children].entries()) option.ariaSelected = String(at === place);
    const option = this.list.children[place];
    if (!option) return;
    this.field.setAttribute('aria-activedescendant', option.id);
    option.scrollIntoView({ block: 'nearest' });
  }

  private async load(search: string): Promise<void> {
    this.asked.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    try {
      const choices = await this.params.offer(search.trim(), signal);
      if (signal.aborted) return;
      this.choices = choices;
      this.list.replaceChildren(...choices.map((choice, place) => this.option(choice, place)));
      if (choices.length === 0) this.say(this.params.texts.none);
      // The first match of what was typed is taken by Enter; without a search none is.
      this.activate(search.trim() === '' || choices.length === 0 ? -1 : 0);
    } catch {
      if (!signal.aborted) this.say(this.params.texts.failed);
    }
  }

  private option(choice: Choice, place: number): HTMLElement {
    const option = document.createElement('li');
    option.id = `${this.list.id}-${place}`;
    option.role = 'option';
    option.textContent = choice.text;
    // Before the field loses the focus, which would end the editing.
    option.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      this.take(choice);
      this.params.stopEditing();
    });
    return option;
  }

  private say(text: string): void {
    const note = document.createElement('li');
    note.className = 'set-filter-note';
    note.textContent = text;
    this.list.replaceChildren(note);
  }
}
