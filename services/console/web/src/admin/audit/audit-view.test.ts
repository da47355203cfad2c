import { auditConditions, isFiltered, readAuditView } from './audit-view.ts';

const conditions = (search: Record<string, unknown>) => auditConditions(readAuditView(search));

describe('the view of the audit log', () => {
  it('shows all without a filter, whatever page or entry is open', () => {
    expect(conditions({ page: '2', event: '7' })).toEqual([]);
    expect(isFiltered(readAuditView({ page: '2' }))).toBe(false);
  });

  it('filters by person, application, result and request', () => {
    expect(conditions({ user: '7', application: '2', result: 'refused', request: 'r-1' })).toEqual([
      'user_id:eq:7',
      'application_id:eq:2',
      'result:eq:refused',
      'request_id:eq:r-1',
    ]);
  });

  it('filters by a whole action or by how actions begin', () => {
    expect(conditions({ action: 'login.failed' })).toEqual(['action:eq:login.failed']);
    expect(conditions({ action: 'login.' })).toEqual(['action:starts_with:login.']);
  });

  it('filters by a kind of thing, or by one', () => {
    expect(conditions({ resource: 'domain' })).toEqual(['resource_type:eq:domain']);
    expect(conditions({ resource: 'domain:3' })).toEqual(['resource_type:eq:domain', 'resource_id:eq:3']);
  });

  it('filters by days, the last one included', () => {
    expect(conditions({ from: '2026-11-01', to: '2026-11-30' })).toEqual([
      `occurred_at:gte:${new Date(2026, 10, 1).toISOString()}`,
      `occurred_at:lt:${new Date(2026, 11, 1).toISOString()}`,
    ]);
  });

  it('leaves out what cannot be read', () => {
    expect(conditions({ user: 'Ada', result: 'maybe', from: 'yesterday' })).toEqual([]);
  });
});
