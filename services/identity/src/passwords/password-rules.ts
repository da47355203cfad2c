// Which passwords users may choose: long ones, except those that are guessed first.
import { passwordLimits } from './passwords.ts';

type Owner = { email: string; first_name: string; last_name: string };

/** The problem with a new password, as a sentence; undefined when it is acceptable. */
export function passwordProblem(password: string, owner: Owner): string | undefined {
  const characters = [...password];
  const { minimum, maximum } = passwordLimits;
  if (characters.length < minimum) return `The password is shorter than ${minimum} characters.`;
  if (characters.length > maximum) return `The password is longer than ${maximum} characters.`;
  if (new Set(characters).size < 5 || isGuessedFirst(password, owner))
    return 'The password is too easy to guess. Don’t take your name or address, or a common word with digits after it.';
  return undefined;
}

const commonWords = [
  ...[
    'password',
    'passwort',
    'qwerty',
    'qwertz',
    'qwertyuiop',
    'asdfghjkl',
    'letmein',
    'welcome',
    'iloveyou',
    'changeme',
  ],
  ...['admin', 'administrator', 'secret', 'almanac', 'abc', 'abcdef', 'test', 'user', 'login'],
];

// Compares the letters alone, repetitions removed: `Password1234!` and `passwordpassword` are
// `password`.
function isGuessedFirst(password: string, { email, first_name, last_name }: Owner): boolean {
  const word = lettersOf(password).replace(/^(.+?)\1+$/u, '$1');
  if (word === '') return /^0?123456/.test(password.replace(/\D/g, ''));
  const own = [email, email.split('@')[0] ?? '', first_name, last_name, first_name + last_name, last_name + first_name];
  return [...commonWords, ...own.map(lettersOf)].includes(word);
}

function lettersOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}]/gu, '');
}
