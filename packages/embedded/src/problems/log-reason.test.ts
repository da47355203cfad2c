import { readReason } from './log-reason.ts';

const fatal = (message: string) =>
  JSON.stringify({
    level: 'fatal',
    err: { message, stack: `Error: ${message}\n    at x.ts:1:1` },
    msg: 'did not start',
  });

it.each([
  [
    'the fatal line of a service, without its stack',
    `{"level":"info","msg":"x"}\n${fatal('The disk is full.')}\n`,
    'The disk is full.',
  ],
  ['the first one of several', `${fatal('one')}\n${fatal('two')}\n`, 'one.'],
  [
    'the fatal line of PostgreSQL',
    '2026-01-01 UTC [1] FATAL:  could not write lock file "postmaster.pid": No space left on device\n2026-01-01 UTC [1] LOG:  database system is shut down\n',
    'could not write lock file "postmaster.pid": No space left on device. The disk is full: free some space, and start again.',
  ],
  [
    'not the answer of a starting server to a client',
    '[1] FATAL:  the database system is starting up\n[2] FATAL:  database files are incompatible with server\n',
    'database files are incompatible with server. The data are those of another version of PostgreSQL: start the release of Almanac that wrote them.',
  ],
  ['the last line of anything else', 'postgres: command not found\n', 'postgres: command not found.'],
  ['a bounded part of a long line', 'x'.repeat(1_000), `${'x'.repeat(400)} …`],
  ['nothing of an empty log', '', undefined],
])('the reason is %s', (_case, log, reason) => {
  expect(readReason(log)).toBe(reason);
});
