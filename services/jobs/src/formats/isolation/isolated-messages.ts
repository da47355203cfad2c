// The messages between a reader process and its parent.
import type { ErrorKind } from '@almanac/service-kit/errors';
import type { Problem } from '@almanac/service-kit/problems';
import type { FileFormat } from '../table-file/file-format.ts';
import type { ColumnTarget, Layout } from '../table-file/table-file.ts';

/** Formats whose readers access a file in any order. */
export type IsolatedFormat = FileFormat & ('xlsx' | 'parquet');

/**
 * `next` requests the next chunk of rows; `bytes` answers `range`, undefined: the source failed.
 */
export type ToWorker =
  | { type: 'targets'; targets: (ColumnTarget | undefined)[] }
  | { type: 'next' }
  | { type: 'bytes'; id: number; bytes: Uint8Array | undefined };

export type FromWorker =
  | { type: 'opened'; header: string[]; layout: Layout }
  | { type: 'chunk'; bytes: Uint8Array; seen: number }
  | { type: 'end'; seen: number }
  | { type: 'range'; id: number; start: number; end: number }
  | { type: 'failed'; kind: ErrorKind | undefined; problems: readonly Problem[] };
