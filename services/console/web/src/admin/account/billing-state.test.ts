import { billingState } from './billing-state.ts';

const now = Date.parse('2026-11-26T12:00:00Z');

describe('the billing state of an account', () => {
  it('is current without an overdue payment', () => {
    expect(billingState({ billing_status: 'current', overdue_since: null }, now)).toEqual({ kind: 'current' });
  });

  it('lets all work for seven days', () => {
    expect(billingState({ billing_status: 'overdue', overdue_since: '2026-11-20T12:00:00Z' }, now)).toEqual({
      kind: 'grace',
      until: '2026-11-27T12:00:00.000Z',
    });
  });

  it('blocks writes after that', () => {
    expect(billingState({ billing_status: 'overdue', overdue_since: '2026-11-19T11:59:59Z' }, now)).toEqual({
      kind: 'blocked',
      since: '2026-11-26T11:59:59.000Z',
    });
  });

  it('is cancelled whatever was overdue', () => {
    expect(billingState({ billing_status: 'cancelled', overdue_since: '2026-11-20T12:00:00Z' }, now)).toEqual({
      kind: 'cancelled',
    });
  });
});
