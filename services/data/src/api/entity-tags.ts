// The entity tags of rows: ETag in answers, If-Match and If-None-Match of requests (RFC 9110).
import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '@almanac/service-kit/caller/idempotency';
import { ServiceError } from '@almanac/service-kit/errors';
import { JsonText } from '@almanac/service-kit/http/json-text';

type Response = { setHeader(name: string, value: string): unknown };

/** The answer as it is sent, with its ETag if it has one. */
export function answerText({ body, etag }: Answer, response: Response, status?: 201): JsonText {
  if (etag !== undefined) response.setHeader('ETag', etag);
  return new JsonText(body, status);
}

/** The versions of If-Match; undefined when any will do. */
export function readIfMatch(header: string | undefined): number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return header.split(',').flatMap((each) => {
    const version = /^\s*"(\d{1,9})"\s*$/.exec(header.includes(',') ? each : header)?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}

/** If-Match also demands that the record exists; `If-None-Match: *` that it doesn't; 400 else. */
export function readCondition(headers: IncomingHttpHeaders) {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (noneMatch === undefined) return { exists: match === undefined ? undefined : true, versions: readIfMatch(match) };
  if (noneMatch.trim() !== '*')
    throw new ServiceError('bad_request', {
      code: 'wrong_format',
      message: 'If-None-Match must be *.',
      field: 'If-None-Match',
    });
  if (match !== undefined)
    throw new ServiceError('bad_request', {
      code: 'incompatible',
      message: 'Send If-Match or If-None-Match, not both.',
      field: 'If-None-Match',
    });
  return { exists: false, versions: undefined };
}
