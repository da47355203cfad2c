// Parquet files for tests.
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';

export type GivenColumn = Omit<SchemaElement, 'name'> & { data: unknown[]; encoding?: string };
type Options = {
  codec?: string;
  /** Rows of a group. */
  rows?: number;
  pageSize?: number;
};

const compressors = { GZIP: gzipSync, ZSTD: zstdCompressSync, BROTLI: brotliCompressSync };

/** A file with these columns. */
export function parquetOf(columns: Record<string, GivenColumn>, options: Options = {}): Buffer {
  const { codec = 'SNAPPY', rows = 1000, pageSize } = options;
  const writer = new ByteWriter();
  const schema: SchemaElement[] = [{ name: 'root', num_children: Object.keys(columns).length }];
  for (const [name, { data: _data, encoding: _encoding, ...element }] of Object.entries(columns))
    schema.push({ name, repetition_type: 'OPTIONAL', ...element });
  const parquet = new ParquetWriter({ writer, schema, compressors, codec } as never);
  const columnData = Object.entries(columns).map(([name, { data, encoding }]) => ({ name, data, encoding }));
  parquet.write({ columnData, rowGroupSize: rows, pageSize } as never);
  parquet.finish();
  return Buffer.from(writer.getBuffer());
}
