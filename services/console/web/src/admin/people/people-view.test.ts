import type { User } from '../queries.ts';
import { findPeople, nameOf, readPeopleView } from './people-view.ts';

const user = (id: number, first_name: string, email: string, status: User['status']): User => ({
  id,
  first_name,
  last_name: '',
  email,
  status,
  user_type: 'person',
  license_type: 'developer',
  created_at: '',
  updated_at: '',
});
const users = [
  user(1, 'Ada', 'ada@example.com', 'active'),
  user(2, '', 'bea@example.com', 'invited'),
  user(3, 'Cid', 'cid@example.org', 'suspended'),
];
const groupsOf = (id: number) => (id === 1 ? ['ISO Viewers'] : []);
const found = (search: Record<string, unknown>) =>
  findPeople(users, readPeopleView(search), groupsOf).map(({ id }) => id);

describe('the list of people', () => {
  it('shows all, or those of a state', () => {
    expect(found({})).toEqual([1, 2, 3]);
    expect(found({ state: 'suspended' })).toEqual([3]);
  });

  it('shows all for a state that there is not', () => {
    expect(found({ state: 'asleep' })).toEqual([1, 2, 3]);
  });

  it('finds words in names, addresses and groups', () => {
    expect(found({ q: 'EXAMPLE.com' })).toEqual([1, 2]);
    expect(found({ q: 'ada viewers' })).toEqual([1]);
    expect(found({ q: 'bea viewers' })).toEqual([]);
  });

  it('names people without a name by their address', () => {
    expect(users.map(nameOf)).toEqual(['Ada', 'bea@example.com', 'Cid']);
  });
});
