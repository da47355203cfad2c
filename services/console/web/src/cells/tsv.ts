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
