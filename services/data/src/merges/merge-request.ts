// The request of a merge.
import { ServiceError } from '@almanac/service-kit/errors';
import type { GivenResolution } from './decisions/resolutions.ts';

export type MergePair = { source_table_id: number; target_table_id: number };
export type MergeRequest = {
  /** A merge is done once under this id. */
  merge_id: string;
  pairs: MergePair[];
  resolutions: GivenResolution[];
  /** Everything is rolled back; undecided conflicts keep the target's values. */
  rehearsal: boolean;
  /** With `has_revisions`, what was seen of the rows of tables: a merge of others is refused. */
  revisions: RowsRevision[];
  has_revisions: boolean;
  /** Whose decisions on rows count; 0: none. */
  promotion_id: number;
};

export type RowsRevision = { source_table_id: number; revision: string };

/** The request, checked; 400. */
export function readMergeRequest(request: MergeRequest): MergeRequest {
  const { merge_id, pairs } = request;
  if (merge_id === '' || merge_id.length > 200 || merge_id.includes('\u0000'))
    throw new ServiceError('bad_request', {
      code: 'wrong_format',
      message: 'merge_id must be 1 to 200 characters.',
      field: 'merge_id',
    });
  requireDistinct(pairs);
  return request;
}

/** 400 for a table that is in two pairs. */
export function requireDistinct(pairs: MergePair[]): void {
  const ids = pairs.flatMap(({ source_table_id, target_table_id }) => [source_table_id, target_table_id]);
  if (new Set(ids).size < ids.length)
    throw new ServiceError('bad_request', { code: 'given_twice', message: 'A table is named twice.' });
}
