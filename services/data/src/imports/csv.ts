// One line of CSV by RFC 4180, for headers; PostgreSQL writes the rows.

/** The line of these cells, quoted where needed. */
export function csvLine(cells: string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) || cell === '' ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`;
}
