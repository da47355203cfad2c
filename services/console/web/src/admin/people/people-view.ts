// Which people the list shows, as its address has it.
import { readText } from '../../address/view.ts';
import type { User } from '../queries.ts';

export const states = ['invited', 'active', 'suspended'] as const satisfies User['status'][];

export type PeopleView = { q?: string | undefined; state?: User['status'] | undefined };

export function readPeopleView(search: Record<string, unknown>): PeopleView {
  return { q: readText(search.q), state: states.find((state) => state === search.state) };
}

/** First and last name; the address of those who have given neither. */
export function nameOf({ first_name, last_name, email }: Pick<User, 'first_name' | 'last_name' | 'email'>): string {
  return `${first_name} ${last_name}`.trim() || email;
}

/** The address beside the name; empty where it is the name already. */
export function addressOf(user: User): string {
  return nameOf(user) === user.email ? '' : user.email;
}

/** Those of the state whose name, address or groups have every word. */
export function findPeople(users: readonly User[], view: PeopleView, groupsOf: (id: number) => string[]): User[] {
  const words = (view.q ?? '').toLowerCase().split(/\s+/);
  return users.filter((user) => {
    const text = [nameOf(user), user.email, ...groupsOf(user.id)].join(' ').toLowerCase();
    return (view.state === undefined || user.status === view.state) && words.every((word) => text.includes(word));
  });
}
