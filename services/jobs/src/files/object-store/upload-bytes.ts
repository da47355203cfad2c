// The bytes of a request that uploads a file: bounded in size and in silence, and complete or an error.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '@almanac/service-kit/errors';

const silenceMs = 60_000;

/** The request's bytes. Too many are `too_large` (by Content-Length before any is read); a caller who falls silent or leaves is an error. */
export async function* incomingBytes(
  req: IncomingMessage,
  res: ServerResponse,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  // What goes wrong below leaves unread bytes on the connection: it must not be used again.
  res.setHeader('Connection', 'close');
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > maxBytes) throw new ServiceError('too_large', `The file is larger than ${maxBytes} bytes.`);
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new ServiceError(
      'unsupported_media_type',
      'Send the file as it is, without Content-Encoding; a .gz file may be sent.',
    );
  const silent = () => req.destroy(new ServiceError('bad_request', 'The upload fell silent for a minute.'));
  let timer = setTimeout(silent, silenceMs);
  let total = 0;
  try {
    // Leaving early must not cut the connection before the answer has gone out.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      clearTimeout(timer);
      total += chunk.length;
      yield chunk;
      timer = setTimeout(silent, silenceMs);
    }
  } catch (cause) {
    throw cause instanceof ServiceError ? cause : new ServiceError('bad_request', 'The upload broke off.', { cause });
  } finally {
    clearTimeout(timer);
  }
  if (req.headers['content-length'] !== undefined && total !== declared)
    throw new ServiceError('bad_request', 'The upload broke off.');
  res.removeHeader('Connection');
}
