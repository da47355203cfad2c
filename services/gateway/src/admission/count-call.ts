// Whether an admitted call counts: it counts when its answer begins, and is put back when it gets
// none.
import type { Request, Response } from 'express';
import { callOf } from '../call.ts';
import { hasBody } from '../connections/request-body.ts';

/**
 * Counts the call as its answer begins, before the client sees any of it. Returns the allowance
 * headers of the answer, if there are any.
 */
export function countCall(req: Request, res: Response, status: number): Record<string, string> {
  const { ticket, token, route } = callOf(res);
  if (!ticket || !token || !route) return {};
  ticket.meter.count(ticket, status, {
    method: req.method,
    resource: route.resource,
    applicationId: token.applicationId ?? 0,
  });
  return ticket.meter.headers();
}

/**
 * Puts back a call that ended without an answer. If the client disconnected after the service had
 * received the whole request, the call counts: disconnecting early must not make calls free.
 */
export function countUnanswered(req: Request, res: Response): void {
  const { ticket, forwarded } = callOf(res);
  if (!ticket || ticket.ended) return;
  const wasSent = forwarded?.wasSent && (req.complete || !hasBody(req));
  if (wasSent && !res.headersSent) countCall(req, res, 499);
  else ticket.meter.putBack(ticket);
}
