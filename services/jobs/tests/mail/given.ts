// Fixtures of mail tests: users that identity knows, requests of other services, rows to inspect.
import { eventually } from '@almanac/testkit/eventually';
import type { job, mail } from '../../src/generated/prisma/client.ts';
import type { Jobs } from '../given.ts';

type Person = Jobs['neighbours']['users'][number];

export type Mails = {
  /** A user of account 1 with an address of their own. */
  person(changes?: Partial<Person>): Person;
  /** Requests a mail, as identity does. */
  ask(template: string, users: { id: number }[], more?: Record<string, unknown>): ReturnType<Jobs['announce']>;
  row(user: { id: number }): Promise<mail>;
  job(user: { id: number }): Promise<job>;
  /** Waits until the user's mail is in that state; answers its row. */
  reaches(user: { id: number }, status: string): Promise<mail>;
};

let people = 0;

export function mailsOf(jobs: () => Jobs): Mails {
  const mails: Mails = {
    person: (changes = {}) => {
      people += 1;
      const [id, email] = [people, `p${people}@a.test`];
      const person = { id, account_id: 1, first_name: 'Ada', last_name: `No. ${id}`, email, ...changes };
      jobs().neighbours.users.push(person);
      return person;
    },
    ask: (template, users, more = {}) => {
      const payload = { account_id: 1, template, user_ids: users.map(({ id }) => id), values: {}, ...more };
      return jobs().announce('identity.mail.requested', payload);
    },
    row: (user) =>
      jobs().context.prisma.mail.findFirstOrThrow({ where: { user_id: user.id }, orderBy: { id: 'desc' } }),
    job: async (user) => {
      const { id } = await mails.row(user);
      return jobs().context.prisma.job.findFirstOrThrow({ where: { kind: 'mail', subject_id: id } });
    },
    reaches: (user, status) =>
      eventually(async () => {
        const row = await mails.row(user);
        expect(row).toMatchObject({ status });
        return row;
      }),
  };
  return mails;
}
