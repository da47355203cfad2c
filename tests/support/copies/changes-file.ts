// Reads the file of an incremental export from its documentation alone, with none of our readers.

/**
 * One line: the transaction code, and the values by column; numbers as numbers, the rest as text.
 */
export type Change = { code: string; sk: number; isDeleted: boolean; values: Record<string, unknown> };

export const textFormats = ['csv', 'tsv', 'ndjson', 'json'] as const;
export type TextFormat = (typeof textFormats)[number];

/** The lines of a file in their order. */
export function readChanges(format: TextFormat, file: string): Change[] {
  const records =
    format === 'csv' || format === 'tsv' ? readTable(file, format === 'csv' ? ',' : '\t') : readJson(format, file);
  return records.map(({ svc_transaction_code, svc_sk, svc_created_at, svc_updated_at, svc_is_deleted, ...values }) => {
    const isDeleted = String(svc_is_deleted) === 'true';
    expect(svc_transaction_code).toMatch(isDeleted ? /^d$/ : /^[iu]$/);
    expect(String(svc_updated_at) >= String(svc_created_at)).toBe(true);
    return { code: String(svc_transaction_code), sk: Number(svc_sk), isDeleted, values };
  });
}

function readJson(format: TextFormat, file: string): Record<string, unknown>[] {
  return format === 'json'
    ? JSON.parse(file)
    : file
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
}

// RFC 4180: an unquoted empty cell is null, a quoted one an empty text.
function readTable(file: string, delimiter: string): Record<string, unknown>[] {
  const rows: (string | null)[][] = [[]];
  const cell = new RegExp(`("(?:[^"]|"")*"|[^${delimiter}\r\n]*)(${delimiter}|\r?\n|$)`, 'y');
  while (cell.lastIndex < file.length) {
    const [, text = '', end] = cell.exec(file) as RegExpExecArray;
    rows.at(-1)?.push(text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text === '' ? null : text);
    if (end !== delimiter) rows.push([]);
  }
  const [header = [], ...lines] = rows.filter(({ length }) => length > 0);
  return lines.map((line) => Object.fromEntries(header.map((name, i) => [name, line[i]])));
}
