// Cuts what stands still: bodies that dribble in, answers nobody reads, services that don't answer. One look at all open
// exchanges every few seconds, so that no call pays for timers.
import { ServiceError } from '@almanac/service-kit/errors';
import type { GatewayTimeouts } from '../config.ts';
import type { Exchange } from './exchange.ts';

/** Less than this in the client's time is no progress. */
const progressBytes = 1024;

/** What is wrong with an exchange at `now`, if anything; notes its progress. */
export function findStall(
  exchange: Exchange,
  now: number,
  timeouts: GatewayTimeouts,
): 'slow request' | 'slow reader' | 'slow service' | undefined {
  const { req, res, progress } = exchange;
  const { bytesRead, bytesWritten } = req.socket;
  const isReceiving = !req.complete && !res.writableEnded;
  const isWaitingForClient = isReceiving || res.writableLength > 0 || req.socket.writableLength > 0;
  const moved = bytesRead - progress.read >= progressBytes || bytesWritten - progress.written >= progressBytes;
  if (moved || !isWaitingForClient) exchange.progress = { read: bytesRead, written: bytesWritten, at: now };
  if (exchange.answerDue !== undefined && req.complete && now > exchange.answerDue) return 'slow service';
  if (isReceiving && !exchange.isUpload && now - exchange.startedAt > timeouts.clientMs) return 'slow request';
  if (!isWaitingForClient || now - exchange.progress.at <= timeouts.clientMs) return undefined;
  return isReceiving ? 'slow request' : 'slow reader';
}

/** Ends an exchange that stands still: the client is cut, a service is given up with 503 to the client. */
export function endStall(exchange: Exchange, stall: NonNullable<ReturnType<typeof findStall>>): void {
  if (stall === 'slow service' && exchange.forwarding && !exchange.res.headersSent)
    exchange.forwarding.giveUp(new ServiceError('unavailable', 'The service took too long.'));
  else exchange.req.socket.destroy();
}
