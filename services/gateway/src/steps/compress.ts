// The step that compresses answers of the API. Other paths never get here: files are streamed and
// have ranges, and the OAuth pages must not be compressed, because the length of a compressed page
// with a secret and an attacker's text reveals the secret (BREACH). The API is safe from that: its
// credentials are bearer tokens, which no browser adds to another site's request, and calls of the
// console are taken from its own pages alone.
import { constants } from 'node:zlib';
import compression from 'compression';
import type { RequestHandler, Response } from 'express';
import { onClose } from '../call.ts';

/** Smaller answers are left as they are: few packets, and less work for both sides. */
const thresholdBytes = 4_096;

/**
 * The answers that are compressed at a time. Each holds up to 0.3 MB until its client has read it;
 * beyond the limit answers are sent as they are.
 */
const maxOpen = 512;

// Fast levels, since an answer is compressed for one reader only.
const levels = {
  level: 1,
  brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 16 } },
};

/** Compresses large JSON answers for clients that accept it. */
export function compress(): RequestHandler {
  let open = 0;
  const filter = (_req: unknown, res: Response) => {
    if (open >= maxOpen || !isCompressible(res)) return false;
    open += 1;
    onClose(res, () => {
      open -= 1;
    });
    return true;
  };
  return compression({ ...levels, threshold: thresholdBytes, filter });
}

// An answer of unknown length is a stream, whose parts must arrive as they are sent. An answer with
// an ETag is one record: the ETag is its version, which If-Match names, and another encoding would
// need another ETag.
function isCompressible(res: Response): boolean {
  const isJson = String(res.getHeader('Content-Type')).startsWith('application/json');
  return isJson && res.hasHeader('Content-Length') && !res.hasHeader('ETag');
}
