import type { Group } from '../queries.ts';
import { rightsOf } from './rights-of.ts';

const group = (name: string, memberIds: number[], permissions: Omit<Group['permissions'][number], 'id'>[]): Group => ({
  id: 1,
  name,
  description: null,
  system: false,
  resource_type: null,
  resource_id: null,
  created_at: '',
  updated_at: '',
  permissions: permissions.map((permission, index) => ({ id: index, ...permission })),
  members: memberIds.map((id) => ({ id, first_name: '', last_name: '', email: '' })),
});
const onDomain = { action: 'edit', resource_type: 'domain', resource_id: 3 } as const;
const onAccount = { action: 'develop', resource_type: 'account', resource_id: 1 } as const;

describe('the rights that groups give', () => {
  it('are those of the groups one is in, the widest place first', () => {
    expect(rightsOf([group('Geographers', [7], [onDomain, onAccount]), group('Others', [8], [onDomain])], 7)).toEqual([
      { place: { resource_type: 'account', resource_id: 1 }, by: { develop: ['Geographers'] } },
      { place: { resource_type: 'domain', resource_id: 3 }, by: { edit: ['Geographers'] } },
    ]);
  });

  it('name every group that gives the same right', () => {
    const [given] = rightsOf([group('One', [7], [onDomain]), group('Two', [7], [onDomain])], 7);
    expect(given?.by).toEqual({ edit: ['One', 'Two'] });
  });

  it('are none without groups', () => {
    expect(rightsOf([group('One', [], [onDomain])], 7)).toEqual([]);
  });
});
