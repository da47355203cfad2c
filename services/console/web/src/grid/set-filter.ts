// A filter by a choice of values, with the model of AG Grid's set filter, which the Community
// edition lacks. The values come from the server, with how many rows have them.
import type { IDoesFilterPassParams, IFilterComp, IFilterParams } from 'ag-grid-community';

export type SetModel = { filterType: 'set'; values: (string | null)[] };

export type OfferedValue = { value: string | null; text: string; count: string };
export type OfferedValues = { values: OfferedValue[]; truncated: boolean };

export type SetFilterTexts = {
  search: string;
  loading: string;
  none: string;
  failed: string;
  more: string;
  reset: string;
};

type SetFilterParams = IFilterParams & {
  offer: (columnName: string, search: string) => Promise<OfferedValues>;
  texts: SetFilterTexts;
};

const searchDelayMs = 250;

export class SetFilter implements IFilterComp {
  private params!: SetFilterParams;
  private gui!: HTMLElement;
  private search!: HTMLInputElement;
  private list!: HTMLElement;
  private reset!: HTMLButtonElement;
  private chosen = new Set<string | null>();
  /** A filter of another kind, which came with a link: it holds until a value is chosen. */
  private other: object | null = null;
  private delay: ReturnType<typeof setTimeout> | undefined;
  /** Counts the requests for values: an answer that a later one overtook is dropped. */
  private asked = 0;

  init(params: SetFilterParams): void {
    this.params = params;
    this.gui = element('div', 'set-filter');
    this.search = element('input', 'set-filter-search');
    this.search.type = 'search';
    this.search.placeholder = params.texts.search;
    this.search.ariaLabel = params.texts.search;
    this.search.addEventListener('input', () => {
      clearTimeout(this.delay);
      this.delay = setTimeout(() => void this.load(), searchDelayMs);
    });
    this.list = element('div', 'set-filter-values');
    this.list.role = 'group';
    this.reset = element('button', 'set-filter-reset');
    this.reset.type = 'button';
    this.reset.textContent = params.texts.reset;
    this.reset.addEventListener('click', () => {
      this.setModel(null);
      this.params.filterChangedCallback();
      void this.load();
    });
    this.gui.append(this.search, this.list, this.reset);
  }

  getGui(): HTMLElement {
    return this.gui;
  }

  /** The values of now: other filters narrow them. */
  afterGuiAttached(): void {
    void this.load();
    this.search.focus();
  }

  isFilterActive(): boolean {
    return this.chosen.size > 0 || this.other !== null;
  }

  /** The server filters; this is asked for rows of the client alone. */
  doesFilterPass(_params: IDoesFilterPassParams): boolean {
    return true;
  }

  getModel(): SetModel | object | null {
    return this.chosen.size > 0 ? { filterType: 'set', values: [...this.chosen] } : this.other;
  }

  setModel(model: SetModel | object | null): void {
    this.chosen = new Set(model && 'values' in model ? model.values : []);
    this.other = model && !('values' in model) ? model : null;
  }

  destroy(): void {
    clearTimeout(this.delay);
    this.asked += 1;
  }

  private async load(): Promise<void> {
    const { offer, texts, column } = this.params;
    const turn = ++this.asked;
    if (this.list.childElementCount === 0) this.say(texts.loading);
    try {
      const { values, truncated } = await offer(column.getColId(), this.search.value.trim());
      if (turn !== this.asked) return;
      this.list.replaceChildren(...values.map((offered) => this.line(offered)));
      if (values.length === 0) this.say(texts.none);
      if (truncated) this.list.append(note(texts.more));
    } catch {
      if (turn === this.asked) this.say(texts.failed);
    }
  }

  private line({ value, text, count }: OfferedValue): HTMLElement {
    const label = element('label', 'set-filter-value');
    const box = element('input', '');
    box.type = 'checkbox';
    box.checked = this.chosen.has(value);
    box.addEventListener('change', () => {
      if (box.checked) this.chosen.add(value);
      else this.chosen.delete(value);
      this.other = null;
      this.params.filterChangedCallback();
    });
    const name = element('span', 'set-filter-name');
    name.textContent = text;
    name.title = text;
    const rows = element('span', 'set-filter-count');
    rows.textContent = count;
    label.append(box, name, rows);
    return label;
  }

  private say(text: string): void {
    this.list.replaceChildren(note(text));
  }
}

function element<K extends keyof HTMLElementTagNameMap>(tag: K, className: string): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  return made;
}

function note(text: string): HTMLElement {
  const made = element('p', 'set-filter-note');
  made.textContent = text;
  return made;
}
