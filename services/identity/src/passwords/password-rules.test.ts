import { passwordProblem } from './password-rules.ts';

const owner = { email: 'Ada.Lovelace@example.com', first_name: 'Ada', last_name: 'Lovelace' };

describe('passwordProblem', () => {
  it.each([
    'correct horse battery',
    'x8#kQ2!vLp09',
    'пароль из слов',
    '漢字かな交じり文はよい鍵にな',
    '🐎🔋🧷📎🐎🔋🧷📎🐎🔋🧷📎🪡',
    '839201746625',
    'aaaaaaaabcdefghi',
    `${'word '.repeat(39)}words`,
  ])('takes %j', (password) => {
    expect(passwordProblem(password, owner)).toBeUndefined();
  });

  it.each(['', 'elevenchars', '🐎'.repeat(11)])('refuses %j as too short', (password) => {
    expect(passwordProblem(password, owner)).toContain('shorter than 12');
  });

  it('refuses more than 200 characters', () => {
    expect(passwordProblem(`${'word '.repeat(40)}x`, owner)).toContain('longer than 200');
  });

  it.each([
    'aaaaaaaaaaaa',
    'abababababab',
    '            ',
    'password1234',
    'Password1234!',
    'passwordpassword',
    'P a s s w o r d 1',
    '123456789012',
    '1234-5678-9012',
    'ada.lovelace@example.com',
    'AdaLovelace1815',
    'lovelace-ada-1',
    'Lovelace12345',
    'qwertyuiop123',
    'Almanac-2026-!',
  ])('refuses %j as too easy', (password) => {
    expect(passwordProblem(password, owner)).toContain('too easy');
  });

  it('has nothing against a password when the name is unknown', () => {
    const unnamed = { email: 'x@example.com', first_name: '', last_name: '' };
    expect(passwordProblem('7391-0482-5513-x', { ...unnamed, email: 'y@example.com' })).toBeUndefined();
    expect(passwordProblem('839201746625', unnamed)).toBeUndefined();
  });
});
