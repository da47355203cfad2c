// The values of one column of a row group, page by page: at most one page is in memory. The claims
// of a header are checked before anything is unpacked.
import { brotliDecompressSync, crc32, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { ColumnMetaData, Compressors, DecodedArray, SchemaElement } from 'hyparquet';
import { parquetHeader, readPage } from 'hyparquet/src/column.js';
import { convert } from 'hyparquet/src/convert.js';
import { fileError } from '../table-file/file-error.ts';
import type { FileSource } from '../table-file/table-file.ts';

export const maxPageBytes = 64 * 1024 * 1024;
export const maxPageValues = 4_000_000;
const maxHeaderBytes = 1024 * 1024;

const bounded = (unpack: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array) => {
  return (bytes: Uint8Array, size: number) => unpack(bytes, { maxOutputLength: Math.max(size, 1) });
};

const compressors: Compressors = {
  GZIP: bounded(gunzipSync),
  ZSTD: bounded(zstdDecompressSync),
  BROTLI: bounded(brotliDecompressSync),
};
const codecs = new Set(['UNCOMPRESSED', 'SNAPPY', ...Object.keys(compressors)]);

type ColumnDecoder = Parameters<typeof readPage>[2];
type PageHeader = ReturnType<typeof parquetHeader>;

export type Column = { name: string; root: SchemaElement; element: SchemaElement };

/**
 * The values of a column chunk, one page at a time; null and undefined: no value. `windowBytes` is
 * the size of one read.
 */
export async function* columnPages(
  source: FileSource,
  { name, root, element }: Column,
  chunk: ColumnMetaData,
  rows: number,
  windowBytes: number,
): AsyncGenerator<DecodedArray> {
  if (!codecs.has(chunk.codec))
    throw fileError(`The column ${name} is packed by ${chunk.codec}; use ${[...codecs].join(', ')}.`);
  // Without its annotations, so that values stay as stored: `parquet-values.ts` makes text of them.
  const raw: SchemaElement = { name, ...pick(element, 'type', 'type_length', 'repetition_type') };
  const node = (part: SchemaElement) => ({ element: part, children: [], count: 1, path: [] });
  const decoder: ColumnDecoder = {
    pathInSchema: [name],
    type: chunk.type,
    element: raw,
    schemaPath: [node(root), node(raw)],
    codec: chunk.codec,
    compressors,
    utf8: false,
    parsers: { timestampFromNanoseconds: (nanos: bigint) => nanos } as unknown as ColumnDecoder['parsers'],
  };
  const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
  const bytes = new SlidingWindow(source, start, start + Number(chunk.total_compressed_size), windowBytes);
  let dictionary: DecodedArray | undefined;
  for (let left = rows; left > 0; ) {
    const header = await readHeader(bytes);
    checkHeader(header, name, left);
    const page = await bytes.take(header.compressed_page_size);
    // The checksum is signed, and optional.
    if (typeof header.crc === 'number' && header.crc !== (crc32(page) | 0)) throw damaged();
    const reader = { view: new DataView(page.buffer, page.byteOffset, page.byteLength), offset: 0 };
    const { data } = readPage(reader, header, decoder, dictionary, undefined, 0);
    if (!data) throw damaged();
    if (header.type === 'DICTIONARY_PAGE') dictionary = convert(data, decoder);
    else {
      if (data.length === 0 || data.length > left) throw damaged();
      left -= data.length;
      yield data;
    }
  }
}

function pick<T extends object, K extends keyof T>(from: T, ...keys: K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>;
}

/** The error of a Parquet file that contradicts itself. */
export const damaged = (cause?: unknown) => fileError('The Parquet file is damaged or cut short.', cause);

async function readHeader(bytes: SlidingWindow): Promise<PageHeader> {
  for (let size = 1024; ; size *= 4) {
    const head = await bytes.peek(size);
    const reader = { view: new DataView(head.buffer, head.byteOffset, head.byteLength), offset: 0 };
    try {
      const header = parquetHeader(reader);
      bytes.skip(reader.offset);
      return header;
    } catch (cause) {
      // A parse error may only mean that the header continues beyond these bytes.
      if (head.length < size || size >= maxHeaderBytes) throw damaged(cause);
    }
  }
}

// The library trusts headers: one without a length would be read for ever.
function checkHeader(header: PageHeader, name: string, left: number): void {
  const { compressed_page_size: packed, uncompressed_page_size: size } = header;
  const { data_page_header: first, data_page_header_v2: second, dictionary_page_header: dictionaryHeader } = header;
  const ownHeader = {
    DICTIONARY_PAGE: dictionaryHeader,
    DATA_PAGE: first,
    DATA_PAGE_V2: second,
    INDEX_PAGE: undefined,
  }[header.type];
  const values = ownHeader?.num_values;
  if (!areSizes(packed, size, values) || !ownHeader?.encoding) throw damaged();
  if (packed > maxPageBytes || size > maxPageBytes || (values as number) > maxPageValues)
    throw fileError(
      `A page of the column ${name} has more than ${maxPageBytes} bytes or ${maxPageValues} values; write the file with smaller pages.`,
    );
  if ((values as number) > (ownHeader === dictionaryHeader ? size : left)) throw damaged();
  if (ownHeader !== second || !second) return;
  const { definition_levels_byte_length: levels, repetition_levels_byte_length: repeated, num_nulls: nulls } = second;
  if (!areSizes(levels, repeated, nulls, second.num_rows) || nulls > second.num_values) throw damaged();
  if (levels + repeated > Math.min(packed, size)) throw damaged();
}

const areSizes = (...sizes: unknown[]) => sizes.every((size) => Number.isInteger(size) && (size as number) >= 0);

// A sliding window over the file.
class SlidingWindow {
  private held: Buffer = Buffer.alloc(0);
  private readonly source: FileSource;
  private at: number;
  private readonly end: number;
  private readonly windowBytes: number;

  constructor(source: FileSource, start: number, end: number, windowBytes: number) {
    if (!(start >= 4 && end >= start && end <= source.size)) throw damaged();
    this.source = source;
    this.at = start;
    this.end = end;
    this.windowBytes = windowBytes;
  }

  /** The next bytes; fewer only at the end. */
  async peek(size: number): Promise<Buffer> {
    if (this.held.length < size && this.at < this.end) {
      const until = Math.min(this.end, this.at + Math.max(size - this.held.length, this.windowBytes));
      const parts: Uint8Array[] = [this.held];
      for await (const part of this.source.range(this.at, until)) parts.push(part);
      this.held = Buffer.concat(parts);
      this.at = until;
    }
    return this.held.subarray(0, size);
  }

  skip(size: number): void {
    this.held = this.held.subarray(size);
  }

  async take(size: number): Promise<Buffer> {
    const taken = await this.peek(size);
    if (taken.length < size) throw damaged();
    this.skip(size);
    return taken;
  }
}
