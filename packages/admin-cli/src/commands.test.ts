import { helpText, readInvocation } from './commands.ts';

const problem = (line: string) => {
  try {
    readInvocation(line.split(' '));
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
};

describe("the operators' commands", () => {
  it('ask for help when nothing, or help, is said', () => {
    for (const words of [[], ['--help'], ['help'], ['accounts', 'create', '-h']])
      expect(readInvocation(words)).toBeUndefined();
    for (const name of [
      'accounts create',
      'accounts update',
      'accounts list',
      'accounts delete',
      'accounts restore',
      'accounts receipt',
      'users list',
      'users reset-password',
      'keys rotate',
      'jobs list',
      'jobs retry',
    ])
      expect(helpText()).toContain(name);
  });

  it.each([
    ['accounts remove 1', 'There is no command "accounts remove"'],
    ['accounts delete', 'Which account?'],
    ['accounts delete Acme --confirm Acme', 'Which account?'],
    ['accounts delete 1 2', 'What is "2"?'],
    ['accounts delete 1 --grace soon', '--grace should be a whole number of days'],
    ['accounts delete 1 --grace 99999', '--grace should be at most 3650 days'],
    ['accounts restore', 'Which account?'],
    ['accounts receipt x', 'Which account?'],
    ['users list', '--account is missing'],
    ['users list --account Acme', 'Which account?'],
    ['users reset-password --account 1', '--email is missing'],
    ['users reset-password --account 1 --email a@b.example --password secret', 'password'],
    ['accounts create --plan free --admin-email a@b.example', '--name is missing'],
    ['accounts create --name A --plan gold --admin-email a@b.example', '--plan should be one of'],
    ['accounts create --name A --plan free --admin-email ada', '--admin-email should be an e-mail address'],
    ['accounts update', 'Which account?'],
    ['accounts update abc --plan free', 'Which account?'],
    ['accounts update 1', 'Nothing to change'],
    ['accounts update 1 --overage maybe', '--overage should be one of on, off'],
    ['accounts update 1 --allowance -5', '--allowance'],
    ['accounts update 1 --allowance many', '--allowance should be a whole number'],
    ['accounts update 1 --storage-bytes 5TB', '--storage-bytes should be a whole number of bytes'],
    ['accounts update 1 --overdue-since yesterday', '--overdue-since should be an ISO 8601 time'],
    ['accounts update 1 2 --plan free', 'What is "2"?'],
    ['accounts list --colour red', 'colour'],
    ['billing usage', 'Which account?'],
    ['billing statement 1 --month 2026-13', '--month should be a month'],
    ['billing statement 1 --month now', '--month should be a month'],
    ['billing payments one', 'Which account?'],
    ['billing add-rate --plan gold', '--plan should be one of'],
    ['billing add-rate --plan plus --currency EUR', '--price-per-1000 is missing'],
    ['billing add-rate --plan plus --currency EUR --price-per-1000 1,5', '--price-per-1000 should be a decimal'],
    ['billing add-rate --plan plus --currency EUR --price-per-1000 1 --from soon', '--from should be an ISO 8601'],
    ['accounts place 1', 'Which cluster?'],
    ['accounts place north', 'Which account?'],
    ['jobs retry', 'Which job?'],
    ['backup', 'Which folder?'],
    ['restore', 'Which folder?'],
    ['restore here there', 'What is "there"?'],
    ['jobs show', 'Which job?'],
    ['jobs list --failed --state done', '--failed or --state'],
    ['jobs list --state lost', '--state should be one of queued'],
    ['jobs list --limit many', '--limit should be a whole number of jobs'],
    ['jobs list --account x', 'Which account?'],
  ])('%s: %s', (line, words) => {
    expect(problem(line)).toContain(words);
  });

  it('are understood when they are right', () => {
    expect(problem('accounts update 1 --plan free --overdue-since 2026-01-31T00:00:00Z --json')).toBeUndefined();
    expect(problem('billing statement 1 --month 2026-01')).toBeUndefined();
    expect(problem('billing add-rate --plan plus --currency EUR --price-per-1000 1.25 --from now')).toBeUndefined();
    expect(problem('keys rotate')).toBeUndefined();
  });
});
