// Fixtures of format tests: files in memory, and what readers make of them.
import { ServiceError } from '@almanac/service-kit/errors';
import { parse } from 'csv-parse/sync';
import type { ColumnTarget, FileSource, TableFile } from '../../src/formats/table-file/table-file.ts';

/** Bytes as a file that arrives in small pieces. */
export function fileOf(content: string | Uint8Array, piece = 1000): FileSource {
  const bytes = Buffer.from(content);
  async function* range(start: number, end: number) {
    for (let at = start; at < end; at += piece) yield bytes.subarray(at, Math.min(end, at + piece));
  }
  return {
    size: bytes.length,
    open: () => range(0, bytes.length),
    range,
    spool: async (kept) => {
      const parts: Uint8Array[] = [];
      for await (const part of kept) parts.push(part);
      return fileOf(Buffer.concat(parts), piece);
    },
  };
}

/**
 * The rows as data would read them: number, problems, cells. `types` are those of the assigned
 * columns; the columns in `formatted` have a date format.
 */
export async function readAll(file: TableFile, types: Record<string, string>, formatted: string[] = []) {
  const targets = file.header.map((name): ColumnTarget | undefined => {
    const dataType = types[name];
    return dataType === undefined ? undefined : { target: name, dataType, formatted: formatted.includes(name) };
  });
  const parts: Uint8Array[] = [];
  for await (const part of file.rows(targets)) parts.push(part);
  const cast = (value: string, { quoting }: { quoting: boolean }) => (value === '' && !quoting ? null : value);
  const rows = parse(Buffer.concat(parts), { cast }) as (string | null)[][];
  return rows.map(([number, problems, ...cells]) => ({
    number: Number(number),
    cells,
    problems: problems ? (JSON.parse(problems) as { column: string; value: string; message: string }[]) : [],
  }));
}

/** The message of a file error; anything else fails the test. */
export async function problemOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'validation_failed') return error.message;
    throw error;
  }
  return 'none';
}
