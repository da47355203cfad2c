// What a reader in a process of its own and whoever started it say to each other.
import type { ErrorKind } from '@almanac/service-kit/errors';
import type { FileFormat } from '../table-file/file-format.ts';
import type { Layout, Place } from '../table-file/table-file.ts';

/** The formats whose readers take files apart that are made to be taken apart in any order. */
export type IsolatedFormat = FileFormat & ('xlsx' | 'parquet');

/** `next` asks for the next chunk of rows; `bytes` answers `range`, undefined: they can't be had. */
export type ToWorker =
  | { type: 'places'; places: (Place | undefined)[] }
  | { type: 'next' }
  | { type: 'bytes'; id: number; bytes: Uint8Array | undefined };

export type FromWorker =
  | { type: 'opened'; header: string[]; layout: Layout }
  | { type: 'chunk'; bytes: Uint8Array; seen: number }
  | { type: 'end'; seen: number }
  | { type: 'range'; id: number; start: number; end: number }
  | { type: 'failed'; kind: ErrorKind | undefined; problems: string[] };
