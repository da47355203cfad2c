// The operators' commands: their arguments, their work, and the text of their results (or --json).
import { parseArgs } from 'node:util';
import { accountDeletionCommands, describeDeletion, listDeletedAccounts } from './account-deletion.ts';
import {
  billingStatuses,
  createAccount,
  listAccounts,
  placeAccount,
  plans,
  readAccountId,
  updateAccount,
} from './accounts.ts';
import {
  type Command,
  defined,
  missing,
  oneOf,
  readCount,
  readSwitch,
  readTime,
  require,
  text,
  type Values,
} from './arguments.ts';
import { backupCommands } from './backup-commands.ts';
import { billingCommands } from './billing.ts';
import { demoDataCommands } from './demo-data-commands.ts';
import { jobStates, showJob, showJobs } from './jobs.ts';
import { noAccount, type Operator, OperatorError } from './operator.ts';
import { userCommands } from './users.ts';

export const commands = {
  'accounts create': {
    usage: 'accounts create --name NAME --plan PLAN --admin-email EMAIL [--redirect-uri URI]',
    about: `Makes an account with an administrator and a first OAuth application. Plans: ${plans.join(', ')}.`,
    options: { name: text, plan: text, 'admin-email': text, 'redirect-uri': text },
    positionals: 0,
    prepare: (values) => {
      const wanted = {
        name: require(values, 'name'),
        plan: oneOf(values, 'plan', plans) ?? missing('plan'),
        adminEmail: require(values, 'admin-email'),
        redirectUri: values['redirect-uri'] as string | undefined,
      };
      if (!/^[^\s@]+@[^\s@]+$/.test(wanted.adminEmail))
        throw new OperatorError('--admin-email should be an e-mail address.');
      return (operator) => createAccount(operator, wanted);
    },
    show: (made: Awaited<ReturnType<typeof createAccount>>) =>
      [
        `Account ${made.id} "${made.name}" (${made.plan})`,
        `  administrator  ${made.admin.email}`,
        `  password       ${made.admin.password}`,
        `  client id      ${made.application.client_id}`,
        `  client secret  ${made.application.client_secret}`,
        `  redirect URI   ${made.application.redirect_uri}`,
        'Password and secret are shown only once.',
      ].join('\n'),
  },
  'accounts update': {
    usage:
      'accounts update ID [--plan PLAN] [--billing-status STATUS] [--overdue-since TIME] [--overage on|off] [--allowance N] [--storage-bytes N]',
    about: `Changes plan and state. Statuses: ${billingStatuses.join(', ')}; TIME is ISO 8601, default now.`,
    options: {
      plan: text,
      'billing-status': text,
      'overdue-since': text,
      overage: text,
      allowance: text,
      'storage-bytes': text,
    },
    positionals: 1,
    prepare: (values, [id]) => {
      const accountId = readAccountId(id);
      const changes = defined({
        plan: oneOf(values, 'plan', plans),
        billing_status: oneOf(values, 'billing-status', billingStatuses),
        overdue_since: readTime(values, 'overdue-since'),
        overage_enabled: readSwitch(values, 'overage'),
        allowance: readCount(values, 'allowance', 'calls'),
        storage_bytes: readCount(values, 'storage-bytes', 'bytes'),
      });
      if (Object.keys(changes).length === 0) throw new OperatorError('Nothing to change: name at least one option.');
      return (operator) => updateAccount(operator, accountId, changes);
    },
    show: (books: Awaited<ReturnType<typeof updateAccount>>) => `Account ${books.id}: ${describeBooks(books)}`,
  },
  'accounts list': {
    usage: 'accounts list [--deleted]',
    about: 'All accounts with plan, state and usage of this month; --deleted: those that are closed or erased.',
    options: { deleted: { type: 'boolean' } },
    positionals: 0,
    prepare: (values) => (values.deleted ? listDeletedAccounts : listAccounts),
    show: (accounts: Awaited<ReturnType<typeof listAccounts | typeof listDeletedAccounts>>) =>
      accounts
        .map((account) =>
          'plan' in account ? `${account.id}\t${account.name}\t${describeBooks(account)}` : describeDeletion(account),
        )
        .join('\n') || 'No accounts.',
  },
  'accounts place': {
    usage: 'accounts place ID CLUSTER',
    about:
      'Moves an account with its tables to a PostgreSQL cluster: main, or a name of DATA_DATABASE_URLS. Reads continue.',
    options: {},
    positionals: 2,
    prepare: (_values, [id, cluster]) => {
      const accountId = readAccountId(id);
      if (!cluster) throw new OperatorError('Which cluster? Give its name: accounts place ID CLUSTER');
      return (operator) => placeAccount(operator, accountId, cluster);
    },
    show: (placed: Awaited<ReturnType<typeof placeAccount>>) =>
      placed.moved
        ? `Account ${placed.id} lives on ${placed.cluster} now: ${placed.tables} tables, ${placed.rows} rows.`
        : `Account ${placed.id} lives on ${placed.cluster} already.`,
  },
  ...accountDeletionCommands,
  ...userCommands,
  ...demoDataCommands,
  ...billingCommands,
  ...backupCommands,
  'keys rotate': {
    usage: 'keys rotate',
    about: 'Makes a new key for signing access tokens; tokens of the old one stay valid until they expire.',
    options: {},
    positionals: 0,
    prepare: () => (operator) => operator.service('identity').RotateSigningKey(noAccount, {}),
    show: (answer: { kid: string }) => `Tokens are now signed with the new key ${answer.kid}.`,
  },
  'jobs list': {
    usage: 'jobs list [--failed | --state STATE] [--account ID] [--limit N]',
    about: `Work that waits, runs or has failed, the latest change first. States: ${jobStates.join(', ')}.`,
    options: { failed: { type: 'boolean' }, state: text, account: text, limit: text },
    positionals: 0,
    prepare: (values) => {
      if (values.failed && values.state !== undefined) throw new OperatorError('Give --failed or --state, not both.');
      const state = values.failed ? 'failed' : (oneOf(values, 'state', jobStates) ?? '');
      const caller = values.account === undefined ? noAccount : { accountId: readAccountId(values.account as string) };
      const limit = readCount(values, 'limit', 'jobs') ?? 100;
      return (operator) => operator.service('jobs').ListJobs(caller, { state, limit });
    },
    show: showJobs,
  },
  'jobs show': {
    usage: 'jobs show ID',
    about: 'One piece of work: import-table-7, export-7, mail-7, or the number of a job.',
    options: {},
    positionals: 1,
    prepare: (_values, [id]) => {
      if (!id) throw new OperatorError('Which job? Give its id: jobs show ID');
      return (operator) => operator.service('jobs').GetJob(noAccount, { id });
    },
    show: showJob,
  },
  'jobs retry': {
    usage: 'jobs retry ID',
    about:
      'Queues failed work again: import-table-7, export-7, mail-7, or the number of a job. dead-letters: all messages to jobs that failed in every attempt.',
    options: {},
    positionals: 1,
    prepare: (_values, [id]) => {
      if (!id) throw new OperatorError('Which job? Give its id: jobs retry ID');
      return (operator) => operator.service('jobs').RetryJob(noAccount, { id });
    },
    show: (answer: { status: string }) => `Queued again: ${answer.status}.`,
  },
} satisfies Record<string, Command>;

type Books = {
  plan: string;
  billing_status: string;
  overdue_since: string | null;
  overage_enabled: boolean;
  allowance: number;
  calls: number;
};

function describeBooks(books: Books): string {
  const overdue = books.overdue_since ? ` since ${books.overdue_since}` : '';
  const overage = books.overage_enabled ? ', overage on' : '';
  return `${books.plan}, ${books.billing_status}${overdue}, ${books.calls} of ${books.allowance} calls${overage}`;
}

/** The work of a command line. Commands that call services need the operator. */
export type Invocation = { asksNoService: boolean; run(operator?: Operator): Promise<string> };

/** Reads a command line; undefined means --help. Problems are OperatorErrors. */
export function readInvocation(argv: string[]): Invocation | undefined {
  if (argv.length === 0 || argv.includes('--help') || argv.includes('-h') || argv[0] === 'help') return undefined;
  const name = Object.keys(commands).find((words) => isSaid(words, argv));
  if (!name) throw new OperatorError(`There is no command "${argv.slice(0, 2).join(' ')}". --help lists them.`);
  const command = (commands as Record<string, Command>)[name] as Command;
  const { values, positionals } = parse(command, argv.slice(name.split(' ').length));
  if (positionals.length > command.positionals)
    throw new OperatorError(`What is "${positionals[command.positionals]}"? Usage: ${command.usage}`);
  const action = command.prepare(values, positionals);
  return {
    asksNoService: command.asksNoService === true,
    run: async (operator) => {
      const answer = await action(operator as Operator);
      return values.json ? JSON.stringify(answer, null, 2) : command.show(answer as never);
    },
  };
}

const isSaid = (words: string, argv: string[]) => words.split(' ').every((word, i) => argv[i] === word);

function parse(command: Command, args: string[]): { values: Values; positionals: string[] } {
  try {
    const options = { ...command.options, json: { type: 'boolean' } as const };
    return parseArgs({ args, options, allowPositionals: true, strict: true }) as {
      values: Values;
      positionals: string[];
    };
  } catch (error) {
    throw new OperatorError(`${(error as Error).message}\nUsage: ${command.usage}`);
  }
}

/** All commands, a paragraph each. */
export function helpText(): string {
  const entries = Object.values(commands).map(({ usage, about }) => `  ${usage}\n      ${about}`);
  return [
    'Usage: npm run -s admin -- COMMAND [--json]        (in an image: node /app/packages/admin-cli/src/main.ts COMMAND)',
    '',
    ...entries,
    '',
    'Key and addresses come from ALMANAC_OPERATOR_KEY, IDENTITY_RPC, BILLING_RPC, METADATA_RPC and JOBS_RPC, or else from',
    'the embedded system of this folder (ALMANAC_HOME, default .almanac). See docs/how-to/operate.md.',
  ].join('\n');
}
