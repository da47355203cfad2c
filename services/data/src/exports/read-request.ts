// What an export is asked for: all rows, those of criteria, or the changes after a mark.

import { ServiceError } from '@almanac/service-kit/errors';
import type { Problem, ProblemCode } from '@almanac/service-kit/problems';
import { readInstant } from '@almanac/service-kit/text/instants';
import { asOfSchema } from '../rows/as-of.ts';
import { type Criteria, readCriteria } from './criteria.ts';

export type ReadRequest = {
  tableDefinitionId: number;
  pattern: string;
  highWaterMark: string;
  asOf: string;
  /** With the versions of rows instead of their times. */
  forEditing: boolean;
  /** JSON; empty for all rows. */
  criteria: string;
};

/** With a mark: the changes after it. */
export type Plan = { mark?: string; asOf?: string; forEditing?: boolean; criteria?: Criteria };

const bad = (code: ProblemCode, message: string, field: string, params?: Problem['params']) =>
  new ServiceError('bad_request', { code, message, field, ...(params && { params }) });
const unfit = (message: string, field: string) =>
  new ServiceError('validation_failed', { code: 'incompatible', message, field });

/** The plan of a read, or 400, or 422 where its parts don't go together. */
export function readRequest({ criteria, ...request }: ReadRequest): Plan {
  const plan = readPattern(request);
  if (criteria === '') return plan;
  const read = readCriteria(criteria);
  refuseUnfit(plan, read);
  return { ...plan, criteria: read };
}

function refuseUnfit({ mark, asOf, forEditing }: Plan, criteria: Criteria): void {
  const first = Object.keys(criteria).find((name) => criteria[name as keyof Criteria] !== undefined) ?? 'pattern';
  if (mark !== undefined) throw unfit(`${first} goes with the pattern full only.`, first);
  if (asOf !== undefined && criteria.change_request_id !== undefined)
    throw unfit('Send as_of or change_request_id, not both.', 'change_request_id');
  const other = (['columns', 'include_lookups', 'change_request_id'] as const).find((name) => criteria[name]);
  if (forEditing && other) throw unfit(`${other} does not go with for_editing.`, other);
}

function readPattern({ pattern, highWaterMark, asOf, forEditing }: Omit<ReadRequest, 'criteria'>): Plan {
  if (forEditing && (pattern !== 'full' || asOf !== ''))
    throw bad('incompatible', 'for_editing goes with the pattern full and without as_of.', 'for_editing');
  if (forEditing) return { forEditing };
  if (pattern === 'full') return readAsOf(asOf);
  if (pattern !== 'incremental')
    throw bad('not_in_list', 'pattern must be full or incremental.', 'pattern', { allowed: ['full', 'incremental'] });
  const mark = readInstant(highWaterMark);
  if (mark === undefined)
    throw bad('wrong_format', 'high_water_mark must be an ISO 8601 date and time.', 'high_water_mark');
  if (asOf !== '') throw bad('incompatible', 'as_of goes with the pattern full only.', 'as_of');
  return { mark: mark.toISOString() };
}

function readAsOf(text: string): Pick<Plan, 'asOf'> {
  if (text === '') return {};
  const read = asOfSchema.safeParse(text);
  if (!read.success) throw bad('wrong_format', 'as_of must be an ISO 8601 date and time with its offset.', 'as_of');
  return { asOf: read.data };
}
