// Some values of each column of a file, to show under its name.
import { plainText } from '../../cells/cell-text.ts';
import type { Sample } from './read-sample.ts';
import { readSeparated } from './separated-cells.ts';

type Style = { delimiter: string | null; quote: string | null; has_header: boolean };

const shown = 3;
const readRowsLimit = 50;

/**
 * By the names that the system gives the columns: those of the header, else their places from 1.
 * Of each column the first different values that are not empty.
 */
export function sampleValues(sample: Sample, format: string, style: Style): Map<string, string[]> {
  if (sample.kind === 'hidden') return new Map();
  const records = format === 'json' || format === 'ndjson' ? jsonRecords(sample.text) : separated(sample.text, style);
  const values = new Map<string, string[]>();
  for (const record of records)
    for (const [name, value] of record) {
      const found = values.get(name) ?? [];
      if (value !== '' && found.length < shown && !found.includes(value)) found.push(value);
      values.set(name, found);
    }
  return values;
}

type Cells = [name: string, value: string][];

function separated(text: string, { delimiter, quote, has_header }: Style): Cells[] {
  const rows = readSeparated(text, { delimiter: delimiter ?? ',', quote }, readRowsLimit);
  const header = has_header ? rows.shift() : undefined;
  return rows.map((row) => row.map((value, place) => [header?.[place]?.trim() ?? String(place + 1), value]));
}

function jsonRecords(text: string): Cells[] {
  return text
    .split('\n', readRowsLimit)
    .filter((line) => line !== '')
    .map((line) => Object.entries(parse(line)).map(([name, value]) => [name, plainText(value)]));
}

function parse(line: string): object {
  try {
    return JSON.parse(line) as object;
  } catch {
    return {};
  }
}
