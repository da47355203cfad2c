// Checks of a request's framing and size. All parts of the system must agree where a request ends,
// so only one form of framing is accepted.
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { RequestHandler } from 'express';
import { callOf } from '../call.ts';
import { closeAfter } from '../connections/closing-connections.ts';

const bad = (message: string) => new ServiceError('bad_request', { code: 'malformed', message });

const singleHeaders = new Set([
  'host',
  'authorization',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
]);

/** Refuses a request with any other framing, and closes its connection. */
export const checkFraming: RequestHandler = (req, res, next) => {
  const problem = framingProblem(req);
  if (problem) closeAfter(req, res);
  next(problem);
};

/**
 * Refuses a body whose Content-Length exceeds the limit of its destination (413), before it is
 * read.
 */
export const checkSize: RequestHandler = (req, res, next) => {
  const limit = callOf(res).destination?.bodyLimit ?? 0;
  const length = req.headers['content-length'];
  const isTooLarge = length !== undefined && Number(length) > limit;
  next(
    isTooLarge
      ? new ServiceError('too_large', {
          code: 'too_large',
          message: `The body is larger than ${limit} bytes.`,
          params: { maximum: limit },
        })
      : undefined,
  );
};

/**
 * The first problem of the framing, if there is one. Node's strict parser has already refused the
 * worst.
 */
function framingProblem(req: IncomingMessage): ServiceError | undefined {
  const url = req.url ?? '';
  if (url.length > limits.urlBytes)
    return new ServiceError('uri_too_long', {
      code: 'too_large',
      message: `The address is longer than ${limits.urlBytes} bytes.`,
      params: { maximum: limits.urlBytes },
    });
  const raw = req.rawHeaders;
  let bytes = 0;
  const seen = new Set<string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    bytes += name.length + (raw[i + 1] as string).length + 4;
    if (!singleHeaders.has(name)) continue;
    if (seen.has(name)) return bad(`The header ${name} is given twice.`);
    seen.add(name);
  }
  if (bytes > limits.headerBytes)
    return new ServiceError('headers_too_large', {
      code: 'too_large',
      message: `The headers are larger than ${limits.headerBytes} bytes.`,
      params: { maximum: limits.headerBytes },
    });
  if (req.httpVersionMajor !== 1) return bad('Use HTTP/1.1.'); // the parser accepts 0.9 and 2.0 too
  if (!seen.has('host')) return bad('The header host is missing.');
  if (!url.startsWith('/') && !(url === '*' && req.method === 'OPTIONS')) return bad('The target must be a path.');
  return seen.has('transfer-encoding') || seen.has('content-encoding') || seen.has('content-length')
    ? bodyProblem(req)
    : undefined;
}

function bodyProblem(req: IncomingMessage): ServiceError | undefined {
  const encoding = req.headers['transfer-encoding'];
  if (encoding !== undefined) {
    if (encoding.toLowerCase() !== 'chunked') return bad('The only transfer encoding is chunked.');
    if (req.headers['content-length'] !== undefined) return bad('A chunked body has no content-length.');
    if (req.httpVersion !== '1.1') return bad('A chunked body needs HTTP/1.1.');
  }
  const content = req.headers['content-encoding'];
  if (content !== undefined && content.toLowerCase() !== 'identity')
    return new ServiceError('unsupported_media_type', {
      code: 'unsupported_media_type',
      message: 'Send the body uncompressed.',
    });
  return undefined;
}
