// Reports calls that lack a scope to the audit log. The gateway refuses them, so no service sees
// them. It has no outbox: an entry that can't be published at once is written to the gateway's log
// instead.
import { randomUUID } from 'node:crypto';
import type { ServiceError } from '@almanac/service-kit/errors';
import { apiPrefix } from '@almanac/service-kit/http/path';
import { auditEntry, refusedAct } from '@almanac/service-kit/messaging/audit';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { LRUCache } from 'lru-cache';
import type { Call } from '../call.ts';

// Refused calls don't count against the allowance, so repeated attempts must not fill the audit
// log.
const repeatAfterMs = 10 * 60_000;

type Options = { bus: Pick<Bus, 'publish'>; logger: Logger };

/** Reports a call that was refused with 403: one in ten minutes for each caller and operation. */
export type AuditRefusal = (call: Call, refusal: ServiceError) => void;

export function createRefusalAudit({ bus, logger }: Options): AuditRefusal {
  const reported = new LRUCache<string, true>({ max: 10_000, ttl: repeatAfterMs });
  return ({ requestId, path, route, token, clientAddress }, { errors }) => {
    if (!route || !token) return;
    const { accountId, userId, applicationId } = token;
    const key = [accountId, userId, applicationId, route.method, route.path].join(' ');
    if (reported.has(key)) return;
    reported.set(key, true);
    const call = { accountId, userId, applicationId, requestId, address: clientAddress.slice(0, 64) };
    const attempt = { method: route.method, path: path.slice(apiPrefix.length, 512) };
    const payload = auditEntry(call, refusedAct(attempt, errors));
    const occurred_at = new Date().toISOString();
    bus
      .publish([
        { v: 1, id: randomUUID(), type: 'gateway.audit.requested', occurred_at, payload, request_id: requestId },
      ])
      .catch((error: unknown) =>
        logger.error({ err: error, ...payload }, 'a refused call could not be reported to the audit log'),
      );
  };
}
