// Users of an account, for operators: who they are, and a way back for one who is locked out.
import { readAccountId } from './accounts.ts';
import { type Command, require, text } from './arguments.ts';

type User = {
  id: number;
  email: string;
  first_name: string;
  last_name: string;
  license_type: string;
  status: string;
  administrator: boolean;
};
type Link = { account_id: number; email: string; url: string; expires_at: string; ended_sessions: boolean };

/** The commands about users. */
export const userCommands = {
  'users list': {
    usage: 'users list --account ID',
    about: 'The users of an account, and which of them administer it.',
    options: { account: text },
    positionals: 0,
    prepare: (values) => {
      const accountId = readAccountId(require(values, 'account'));
      return async (operator) => (await operator.service('identity').ListAccountUsers({ accountId }, {})).users;
    },
    show: (users: User[]) =>
      users
        .map(({ id, email, first_name, last_name, license_type, status, administrator }) =>
          [
            id,
            email,
            `${first_name} ${last_name}`.trim() || '-',
            license_type,
            status,
            administrator && 'administrator',
          ]
            .filter(Boolean)
            .join('\t'),
        )
        .join('\n') || 'No users.',
  },
  'users reset-password': {
    usage: 'users reset-password --account ID --email EMAIL [--end-sessions]',
    about:
      'Prints a link with which the user sets a new password, once, and ends the waits after wrong passwords. --end-sessions: log-ins and tokens of the user end now.',
    options: { account: text, email: text, 'end-sessions': { type: 'boolean' } },
    positionals: 0,
    prepare: (values) => {
      const accountId = readAccountId(require(values, 'account'));
      const email = require(values, 'email');
      const end_sessions = values['end-sessions'] === true;
      return async (operator): Promise<Link> => {
        const link = await operator.service('identity').ResetPassword({ accountId }, { email, end_sessions });
        return { account_id: accountId, email, ...link, ended_sessions: end_sessions };
      };
    },
    show: ({ email, url, expires_at, ended_sessions }: Link) =>
      [
        `With this link ${email} sets a new password, once, until ${expires_at}:`,
        `  ${url}`,
        `Give it to the user alone.${ended_sessions ? ' Log-ins and tokens of the user have ended.' : ''}`,
      ].join('\n'),
  },
} satisfies Record<string, Command>;
