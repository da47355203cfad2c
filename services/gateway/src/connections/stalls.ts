// Times out slow clients and upstreams: bodies that dribble in, answers that are not read, services that do not answer. One
// look at all open requests every few seconds, so that no call pays for timers.
import { ServiceError } from '@almanac/service-kit/errors';
import { callOf } from '../call.ts';
import type { GatewayTimeouts } from '../config.ts';
import type { OpenRequest } from './open-requests.ts';

/** Less than this in the client's time is no progress. */
const progressBytes = 1024;

/** What is wrong with a request at `now`, if anything; notes its progress. */
export function findStall(
  open: OpenRequest,
  now: number,
  timeouts: GatewayTimeouts,
): 'slow request' | 'slow reader' | 'slow service' | undefined {
  const { req, res, progress } = open;
  const { startedAt, destination, forwarding } = callOf(res);
  const { bytesRead, bytesWritten } = req.socket;
  const isReceiving = !req.complete && !res.writableEnded;
  const isWaitingForClient = isReceiving || res.writableLength > 0 || req.socket.writableLength > 0;
  const moved = bytesRead - progress.read >= progressBytes || bytesWritten - progress.written >= progressBytes;
  if (moved || !isWaitingForClient) open.progress = { read: bytesRead, written: bytesWritten, at: now };
  const answerDue = forwarding?.answerDue;
  if (answerDue !== undefined && req.complete && now > answerDue) return 'slow service';
  if (isReceiving && !destination?.isUpload && now - startedAt > timeouts.clientMs) return 'slow request';
  if (!isWaitingForClient || now - open.progress.at <= timeouts.clientMs) return undefined;
  return isReceiving ? 'slow request' : 'slow reader';
}

/** Ends a request that stands still: the client is cut, a service is given up with 503 to the client. */
export function endStall({ req, res }: OpenRequest, stall: NonNullable<ReturnType<typeof findStall>>): void {
  const { forwarding } = callOf(res);
  if (stall === 'slow service' && forwarding && !res.headersSent)
    forwarding.giveUp(new ServiceError('unavailable', 'The service took too long.'));
  else req.socket.destroy();
}
