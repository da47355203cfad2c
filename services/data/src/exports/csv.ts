// One line of CSV as RFC 4180 has it; only for headers, rows come from PostgreSQL.

/** Cells that need quotes get them. */
export function csvLine(cells: string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) || cell === '' ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`;
}
