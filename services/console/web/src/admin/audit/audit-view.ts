// Which entries of the audit log the page shows, as its address has it.
import { readId, readText } from '../../address/view.ts';
import type { Schemas } from '../../api/client.ts';

export type AuditEvent = Schemas['AuditEvent'];

export const results = ['succeeded', 'failed', 'refused'] as const satisfies AuditEvent['result'][];

export type AuditView = {
  user?: number | undefined;
  application?: number | undefined;
  /** A whole action, `login.failed`, or the beginning of several, `login.`. */
  action?: string | undefined;
  /** `domain`, or `domain:3`. */
  resource?: string | undefined;
  result?: AuditEvent['result'] | undefined;
  request?: string | undefined;
  /** Days of the person. */
  from?: string | undefined;
  to?: string | undefined;
  page?: number | undefined;
  /** The entry that is open. */
  event?: number | undefined;
};

export function readAuditView(search: Record<string, unknown>): AuditView {
  return {
    user: readId(search.user),
    application: readId(search.application),
    action: readText(search.action),
    resource: readText(search.resource),
    result: results.find((result) => result === search.result),
    request: readText(search.request),
    from: readDay(search.from),
    to: readDay(search.to),
    page: readId(search.page),
    event: readId(search.event),
  };
}

/** The conditions of the API's list for a view. */
export function auditConditions(view: AuditView): string[] {
  const { user, application, action, resource, result, request, from, to } = view;
  const [type, id] = (resource ?? '').split(':');
  const conditions = {
    'user_id:eq': user,
    'application_id:eq': application,
    [action?.endsWith('.') ? 'action:starts_with' : 'action:eq']: action,
    'resource_type:eq': type,
    'resource_id:eq': id,
    'result:eq': result,
    'request_id:eq': request,
    'occurred_at:gte': from && startOf(from, 0),
    'occurred_at:lt': to && startOf(to, 1),
  };
  return Object.entries(conditions).flatMap(([condition, value]) => (value ? [`${condition}:${value}`] : []));
}

/** Whether the view leaves entries out. */
export function isFiltered(view: AuditView): boolean {
  return auditConditions(view).length > 0;
}

// The days of the person begin at their own midnight.
function startOf(day: string, later: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + later).toISOString();
}

function readDay(value: unknown): string | undefined {
  const day = readText(value);
  return day && /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day)) ? day : undefined;
}
