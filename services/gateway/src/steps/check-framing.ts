// The first look at a request: is it framed in the one way all parts of the system read alike, and of a size we take?
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { RequestHandler } from 'express';
import { callOf } from '../call.ts';
import { closeAfter } from '../connections/last-answers.ts';

const bad = (sentence: string) => new ServiceError('bad_request', sentence);

const once = new Set([
  'host',
  'authorization',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
]);

/** Refuses a request that is framed in another way, and ends its connection. */
export const checkFraming: RequestHandler = (req, res, next) => {
  const problem = framingProblem(req);
  if (problem) closeAfter(req, res);
  next(problem);
};

/** Refuses a body that says it is larger than its destination takes (413), before a byte of it is read. */
export const checkSize: RequestHandler = (req, res, next) => {
  const limit = callOf(res).destination?.bodyLimit ?? 0;
  const length = req.headers['content-length'];
  const isTooLarge = length !== undefined && Number(length) > limit;
  next(isTooLarge ? new ServiceError('too_large', `The body is larger than ${limit} bytes.`) : undefined);
};

/** What is wrong with the frame of a request; undefined when nothing is. Node's strict parser has refused the worst before. */
function framingProblem(req: IncomingMessage): ServiceError | undefined {
  const url = req.url ?? '';
  if (url.length > limits.urlBytes)
    return new ServiceError('uri_too_long', `The address is longer than ${limits.urlBytes} bytes.`);
  const raw = req.rawHeaders;
  let bytes = 0;
  const seen = new Set<string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    bytes += name.length + (raw[i + 1] as string).length + 4;
    if (!once.has(name)) continue;
    if (seen.has(name)) return bad(`The header ${name} is given twice.`);
    seen.add(name);
  }
  if (bytes > limits.headerBytes)
    return new ServiceError('headers_too_large', `The headers are larger than ${limits.headerBytes} bytes.`);
  if (req.httpVersionMajor !== 1) return bad('Use HTTP/1.1.'); // the parser takes 0.9 and 2.0 too
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
    return new ServiceError('unsupported_media_type', 'Send the body uncompressed.');
  return undefined;
}

/** True when the request has, or may have, a body. */
export function hasBody(req: IncomingMessage): boolean {
  const length = req.headers['content-length'];
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}
