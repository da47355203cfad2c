// Times out slow clients and services: bodies that arrive too slowly, answers that are not read,
// services that do not answer. One sweep over all open requests every few seconds replaces a timer
// for each request.
import { ServiceError } from '@almanac/service-kit/errors';
import { callOf } from '../call.ts';
import type { GatewayTimeouts } from '../config.ts';
import type { OpenRequest } from './open-requests.ts';

/** Fewer bytes than this within the client's timeout are no progress. */
const progressBytes = 1024;

/** The timeout that a request has exceeded at `now`, if any. Also updates its progress. */
export function findTimeout(
  open: OpenRequest,
  now: number,
  timeouts: GatewayTimeouts,
): 'slow request' | 'slow reader' | 'slow service' | undefined {
  const { req, res, progress } = open;
  const { startedAt, destination, forwarded } = callOf(res);
  const { bytesRead, bytesWritten } = req.socket;
  const isReceiving = !req.complete && !res.writableEnded;
  const isWaitingForClient = isReceiving || res.writableLength > 0 || req.socket.writableLength > 0;
  const moved = bytesRead - progress.read >= progressBytes || bytesWritten - progress.written >= progressBytes;
  if (moved || !isWaitingForClient) open.progress = { read: bytesRead, written: bytesWritten, at: now };
  const answerDue = forwarded?.answerDue;
  if (answerDue !== undefined && req.complete && now > answerDue) return 'slow service';
  if (isReceiving && !destination?.isUpload && now - startedAt > timeouts.clientMs) return 'slow request';
  if (!isWaitingForClient || now - open.progress.at <= timeouts.clientMs) return undefined;
  return isReceiving ? 'slow request' : 'slow reader';
}

/**
 * Ends a request that timed out: 503 for a slow service; the connection of a slow client is closed.
 */
export function endTimedOut({ req, res }: OpenRequest, timeout: NonNullable<ReturnType<typeof findTimeout>>): void {
  const { forwarded } = callOf(res);
  if (timeout === 'slow service' && forwarded && !res.headersSent)
    forwarded.abort(new ServiceError('unavailable', 'The service took too long.'));
  else req.socket.destroy();
}
