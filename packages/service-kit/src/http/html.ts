// HTML by tagged template: every value is escaped unless it is Html, so no caller can omit it.

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | Html[] | string | number | false | undefined;

/** Markup from a template. Strings are escaped; attributes must be in double quotes. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.reduce((text, part, i) => text + render(values[i - 1]) + part));
}

function render(value: Value): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map((each) => each.text).join('');
  return escapeHtml(String(value));
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

// Bidirectional controls can make a name look like another; control characters are invisible.
const invisible = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** The text in one line, without control and bidirectional characters. */
export function visibleText(text: string): string {
  return text.replace(invisible, '');
}

/** Escapes a text for markup. */
export function escapeHtml(text: string): string {
  return visibleText(text).replace(/[&<>"']/g, (character) => entities[character] as string);
}
