import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { type AuditView, auditConditions } from './audit-view.ts';

export const pageSize = 50;

/** A page of the entries of a view, the newest first. */
export function auditQuery(view: AuditView) {
  const q = auditConditions(view);
  const { page = 1 } = view;
  return queryOptions({
    queryKey: ['audit_events', q, page],
    queryFn: ({ signal }) =>
      client.get('/audit_events', { params: { query: { q, page, per_page: pageSize } }, signal }),
    placeholderData: keepPreviousData,
  });
}
