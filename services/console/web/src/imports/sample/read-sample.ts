// The beginning of a file, as far as it can be shown before it is uploaded. The system reads the
// whole file by its own rules; this is for guessing the columns, and for showing some values.
import { writeTsv } from '../../cells/tsv.ts';
import { decodeText } from './decode-text.ts';
import { cutAtLine, jsonLines } from './text-lines.ts';
import { readWorkbook } from './workbook.ts';
import { unpackBeginning } from './zip.ts';

export type Sample =
  | { kind: 'text'; text: string }
  /** Rows of a workbook, as text with tabs. */
  | { kind: 'workbook'; text: string }
  /** Only the system reads such a file: its columns go by their names. */
  | { kind: 'hidden' };

const readBytes = 400_000;
/** `POST /import_mappings/suggest` takes at most 250,000 characters. */
const textLength = 100_000;

/** The sample of a file; a file that can't be read here is hidden, and the system judges it. */
export async function readSample(file: Blob): Promise<Sample> {
  try {
    return await read(file);
  } catch {
    return { kind: 'hidden' };
  }
}

async function read(file: Blob): Promise<Sample> {
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (beginsWith(start, 'PAR1')) return { kind: 'hidden' };
  if (beginsWith(start, 'PK\u0003\u0004')) {
    const rows = await readWorkbook(file);
    return rows.length === 0 ? { kind: 'hidden' } : { kind: 'workbook', text: writeTsv(rows) };
  }
  const isGzipped = start[0] === 0x1f && start[1] === 0x8b;
  const bytes = isGzipped
    ? await unpackBeginning(file, 'gzip', readBytes)
    : new Uint8Array(await file.slice(0, readBytes).arrayBuffer());
  // A gzipped workbook or Parquet file is seldom: the system unpacks it.
  if (isGzipped && (beginsWith(bytes, 'PAR1') || beginsWith(bytes, 'PK\u0003\u0004'))) return { kind: 'hidden' };
  const isWhole = !isGzipped && file.size <= readBytes;
  const text = decodeText(bytes);
  if (text.trim() === '') return { kind: 'hidden' };
  return { kind: 'text', text: jsonLines(text, textLength) ?? cutAtLine(text, textLength, isWhole) };
}

function beginsWith(bytes: Uint8Array, text: string): boolean {
  return [...text].every((character, place) => bytes[place] === character.charCodeAt(0));
}
