// Parts of pages: fields with labels and hints, problems, notices, dates.
import { type Html, html } from '@almanac/service-kit/http/html';

/** The hidden fields of a form. */
export function hiddenFields(fields: Record<string, string>): Html[] {
  return Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`);
}

/**
 * A user-given name, isolated so that right-to-left text doesn't reorder the sentence around it.
 */
export function bdi(name: string): Html {
  return html`<bdi>${name}</bdi>`;
}

type Field = {
  name: string;
  label: string;
  type: 'email' | 'password' | 'text';
  autocomplete: string;
  value?: string;
  hint?: string;
  /** True when the problem is about this field. */
  isBad?: boolean;
  optional?: boolean;
  autofocus?: boolean;
  inputmode?: 'numeric';
  readonly?: boolean;
};

/**
 * A labelled field. Screen readers read its hint with it, and the page's problem when it is about
 * the field.
 */
export function field(options: Field): Html {
  const { name, label, type, autocomplete, value, hint, isBad, optional, autofocus, inputmode, readonly } = options;
  const described = [isBad ? 'problem' : '', hint === undefined ? '' : `${name}-hint`]
    .filter((id) => id !== '')
    .join(' ');
  return html`<label for="${name}">${label}${optional && html` <span class="quiet">(optional)</span>`}</label>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>\n`}<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"${
    value !== undefined && html` value="${value}"`
  }${inputmode && html` inputmode="${inputmode}"`}${!optional && !readonly && html` required`}${readonly && html` readonly`}${
    autofocus && html` autofocus`
  }${isBad && html` aria-invalid="true"`}${described !== '' && html` aria-describedby="${described}"`}>
`;
}

/** The problem of a form, linked to the field that corrects it. */
export function problemBox(title: string, problem: string | undefined, fieldName: string): Html | false {
  return (
    problem !== undefined &&
    html`<div class="box bad" role="alert">
<h2>${title}</h2>
<p id="problem"><a href="#${fieldName}">${problem}</a></p>
</div>
`
  );
}

/** The notice about the last action. */
export function noticeBox(notice: string | undefined): Html | false {
  return notice !== undefined && html`<p class="box good" role="status">${notice}</p>\n`;
}

/** A wait in words, rounded up: `40 seconds`, `2 minutes`. */
export function waitInWords(seconds: number): string {
  if (seconds === 1) return '1 second';
  return seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** A date in words, in UTC. */
export function day(time: Date): Html {
  const text = `${time.getUTCDate()} ${months[time.getUTCMonth()]} ${time.getUTCFullYear()}`;
  return html`<time datetime="${time.toISOString()}">${text}</time>`;
}
