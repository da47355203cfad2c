// The supported formats, and how a file's first bytes reveal its format.
import { fileError } from './file-error.ts';

export const fileFormats = ['csv', 'tsv', 'ndjson', 'json', 'xlsx', 'parquet'] as const;
export type FileFormat = (typeof fileFormats)[number];

const startsWith = (head: Uint8Array, ...bytes: number[]) => bytes.every((byte, i) => head[i] === byte);

/** Whether a file that starts with these bytes is gzip; likewise below. */
export const isGzip = (head: Uint8Array): boolean => startsWith(head, 0x1f, 0x8b);
/** A ZIP archive, such as an XLSX workbook. */
export const isZip = (head: Uint8Array): boolean => startsWith(head, 0x50, 0x4b, 0x03, 0x04);
/** A Parquet file. */
export const isParquet = (head: Uint8Array): boolean => startsWith(head, 0x50, 0x41, 0x52, 0x31);
const isCompound = (head: Uint8Array): boolean => startsWith(head, 0xd0, 0xcf, 0x11, 0xe0);

/**
 * The format of an (unpacked) file that starts with these bytes. Text is CSV unless it starts like
 * a JSON array of objects or a JSON object; TSV is recognised by its delimiter.
 */
export function detectFormat(head: Uint8Array): FileFormat {
  if (isZip(head)) return 'xlsx';
  if (isParquet(head)) return 'parquet';
  if (isCompound(head))
    throw fileError('The file is a workbook of an old form (.xls), or one with a password; save it as .xlsx without.');
  const text = textOf(head).trimStart();
  if (/^\[\s*(?:[{\]]|$)/.test(text)) return 'json';
  return /^\{\s*(?:["}]|$)/.test(text) ? 'ndjson' : 'csv';
}

/**
 * UTF-16 by its byte order mark, or by its first character, half of which is zero if it is ASCII:
 * no other text contains U+0000.
 */
export function detectUtf16(head: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = head;
  if ((first === 0xff && second === 0xfe) || (first && second === 0)) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || (first === 0 && second) ? 'utf-16be' : undefined;
}

function textOf(head: Uint8Array): string {
  return new TextDecoder(detectUtf16(head) ?? 'utf-8').decode(head);
}
