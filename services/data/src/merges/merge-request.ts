// What data is asked to merge.
import { ServiceError } from '@almanac/service-kit/errors';
import type { GivenResolution } from './resolutions.ts';

export type MergePair = { source_table_id: number; target_table_id: number };
export type MergeRequest = {
  /** Merged once under this id. */
  merge_id: string;
  pairs: MergePair[];
  resolutions: GivenResolution[];
  /** Roll everything back; what is undecided stays as the target has it. */
  rehearsal: boolean;
};

/** The request as it came, or 400. */
export function readMergeRequest(request: MergeRequest): MergeRequest {
  const { merge_id, pairs } = request;
  if (merge_id === '' || merge_id.length > 200 || merge_id.includes('\u0000'))
    throw new ServiceError('bad_request', 'merge_id must be 1 to 200 characters.');
  const ids = pairs.flatMap(({ source_table_id, target_table_id }) => [source_table_id, target_table_id]);
  if (new Set(ids).size < ids.length) throw new ServiceError('bad_request', 'A table is named twice.');
  return request;
}
