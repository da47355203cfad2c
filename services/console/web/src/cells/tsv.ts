// Rows as the text that spreadsheets put on the clipboard.

const special = /[\t\r\n"]/;

/** Rows of cells as tab-separated text; a cell with a tab, a quote or a line break is quoted. */
export function writeTsv(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => cells.map(writeCell).join('\t')).join('\r\n');
}

/**
 * The same rows as an HTML table whose cells are text: a spreadsheet that takes it keeps the zeros
 * of `007`, and computes nothing that begins with `=`.
 */
export function writeHtmlTable(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => `<td style="mso-number-format:'\\@'">${escapeHtml(text)}</td>`;
  return `<table>${rows.map((cells) => `<tr>${cells.map(cell).join('')}</tr>`).join('')}</table>`;
}

function writeCell(text: string): string {
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\n', '<br>');
}

/**
 * The cells of a text that a spreadsheet put on the clipboard. Quoted cells may have tabs, line
 * breaks and doubled quotes; a quote within a cell that begins without one is a plain character.
 * The line break at the end is not a row.
 */
export function readTsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const cell = text[at] === '"' ? readQuoted(text, at) : readPlain(text, at);
    row.push(cell.text);
    at = cell.end;
    if (text[at] === '\t') {
      at += 1;
      if (at === text.length) row.push('');
      continue;
    }
    at += text.startsWith('\r\n', at) ? 2 : 1;
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(row);
  return rows;
}

type ReadCell = { text: string; end: number };

function readPlain(text: string, start: number): ReadCell {
  let end = start;
  while (end < text.length && !'\t\r\n'.includes(text[end] as string)) end += 1;
  return { text: text.slice(start, end), end };
}

// What begins with a quote and has no end of one is taken as it is: a person typed the quote.
function readQuoted(text: string, start: number): ReadCell {
  const quoted = /"((?:[^"]|"")*)"(?=[\t\r\n]|$)/y;
  quoted.lastIndex = start;
  const found = quoted.exec(text);
  if (!found) return readPlain(text, start);
  return { text: (found[1] as string).replaceAll('""', '"'), end: quoted.lastIndex };
}
