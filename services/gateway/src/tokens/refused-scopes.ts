// Tells the audit log of calls that a token's scopes don't hold: they are refused here, so no service ever sees them. There is no
// database here to keep them in; what can't be told at once stands in our own log instead.
import { randomUUID } from 'node:crypto';
import type { ServiceError } from '@almanac/service-kit/errors';
import { apiPrefix } from '@almanac/service-kit/http/path';
import { auditEntry, refusedAct } from '@almanac/service-kit/messaging/audit';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { LRUCache } from 'lru-cache';
import type { Call } from '../call.ts';

// These calls cost nothing and count nowhere, so a caller who goes on trying must not be able to fill the log.
const onceInMs = 10 * 60_000;

type Options = { bus: Pick<Bus, 'publish'>; logger: Logger };

/** Notes a call that was refused with 403: of the same caller's tries at the same operation, one in ten minutes. */
export type NoteRefusal = (call: Call, refusal: ServiceError) => void;

export function createNoteRefusal({ bus, logger }: Options): NoteRefusal {
  const noted = new LRUCache<string, true>({ max: 10_000, ttl: onceInMs });
  return ({ requestId, path, route, token, clientAddress }, { errors }) => {
    if (!route || !token) return;
    const { accountId, userId, applicationId } = token;
    const key = [accountId, userId, applicationId, route.method, route.path].join(' ');
    if (noted.has(key)) return;
    noted.set(key, true);
    const call = { accountId, userId, applicationId, requestId, address: clientAddress.slice(0, 64) };
    const attempt = { method: route.method, path: path.slice(apiPrefix.length, 512) };
    const payload = auditEntry(call, refusedAct(attempt, errors));
    const occurred_at = new Date().toISOString();
    bus
      .publish([
        { v: 1, id: randomUUID(), type: 'gateway.audit.requested', occurred_at, payload, request_id: requestId },
      ])
      .catch((error: unknown) =>
        logger.error({ err: error, ...payload }, 'a refused call could not be told to the audit log'),
      );
  };
}
