import { auditEntry, createdAct, deletedAct, updatedAct } from './audit.ts';

const times = { created_at: new Date(1), updated_at: new Date(2) };
const lamp = { id: 5, name: 'Lamp', colours: ['red', 'blue'], since: new Date('2026-01-01'), ...times };

describe('acts', () => {
  it('of making and deleting hold the attributes, without what the entry says itself', () => {
    const attributes = { name: 'Lamp', colours: ['red', 'blue'], since: lamp.since };
    const on = { resource_type: 'lamp', resource_id: 5 };
    expect(createdAct('lamp', lamp)).toEqual({ action: 'lamp.created', ...on, after: attributes });
    expect(deletedAct('lamp', lamp)).toEqual({ action: 'lamp.deleted', ...on, before: attributes });
  });

  it('of changing hold what differs, before and after', () => {
    const changed = {
      ...lamp,
      name: 'Light',
      colours: ['red'],
      since: new Date('2026-01-01'),
      updated_at: new Date(3),
    };
    expect(updatedAct('lamp', lamp, changed)).toEqual({
      action: 'lamp.updated',
      resource_type: 'lamp',
      resource_id: 5,
      before: { name: 'Lamp', colours: ['red', 'blue'] },
      after: { name: 'Light', colours: ['red'] },
    });
  });

  it('are none when nothing differs', () => {
    expect(updatedAct('lamp', lamp, { ...lamp, colours: ['red', 'blue'], updated_at: new Date(3) })).toBeUndefined();
  });

  it('become entries with the caller, the address and the request', () => {
    const call = { accountId: 7, userId: 9, applicationId: 11, address: '192.0.2.1', requestId: 'request-0001' };
    expect(auditEntry(call, { action: 'lamp.lit' })).toEqual({
      action: 'lamp.lit',
      account_id: 7,
      user_id: 9,
      application_id: 11,
      address: '192.0.2.1',
      request_id: 'request-0001',
    });
  });
});
