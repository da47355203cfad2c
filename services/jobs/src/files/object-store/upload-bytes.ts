// The bytes of an upload: limited in size and idle time, and complete or an error.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '@almanac/service-kit/errors';

const stallTimeoutMs = 60_000;

/**
 * The bytes of the request. Too many are `too_large` (before any is read, if Content-Length says
 * so); a stalled or aborted upload is an error.
 */
export async function* uploadBytes(
  req: IncomingMessage,
  res: ServerResponse,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  // After an error the connection has unread bytes and must not be reused.
  res.setHeader('Connection', 'close');
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > maxBytes)
    throw new ServiceError('too_large', {
      code: 'too_large',
      message: `The file is larger than ${maxBytes} bytes.`,
      params: { maximum: maxBytes },
    });
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new ServiceError('unsupported_media_type', {
      code: 'unsupported_media_type',
      message: 'Send the file as it is, without Content-Encoding; a .gz file may be sent.',
    });
  const onStall = () =>
    req.destroy(new ServiceError('bad_request', { code: 'malformed', message: 'The upload stalled for a minute.' }));
  let timer = setTimeout(onStall, stallTimeoutMs);
  let total = 0;
  try {
    // Leaving the loop early must not cut the connection before the answer is sent.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      clearTimeout(timer);
      total += chunk.length;
      yield chunk;
      timer = setTimeout(onStall, stallTimeoutMs);
    }
  } catch (cause) {
    throw cause instanceof ServiceError
      ? cause
      : new ServiceError('bad_request', { code: 'malformed', message: 'The upload was cut off.' }, { cause });
  } finally {
    clearTimeout(timer);
  }
  if (req.headers['content-length'] !== undefined && total !== declared)
    throw new ServiceError('bad_request', { code: 'malformed', message: 'The upload was cut off.' });
  res.removeHeader('Connection');
}
