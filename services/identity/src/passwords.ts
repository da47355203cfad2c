// People's passwords: argon2id (2 passes, 1 lane), a few at once so that a flood of log-ins can't
// take all memory.
import { argon2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { ServiceError } from '@almanac/service-kit/errors';
import { sameDigest } from './digest.ts';

const hash = promisify(argon2);
const twoPasses = { passes: 2, parallelism: 1, tagLength: 32 };
const atOnce = 2;
const waitingAtMost = 200;

export const passwordLimits = { minimum: 12, maximum: 200 } as const;

export type Passwords = {
  hash(password: string): Promise<string>;
  /**
   * False for a wrong password; without a stored hash the same work is done in vain, so that the
   * time tells nothing.
   */
  verify(password: string, stored: string | null | undefined): Promise<boolean>;
};

/** `memory`: of one hash, in KiB; a stored hash keeps the memory that it was made with. */
export function createPasswords(memory: number): Passwords {
  const cost = { memory, ...twoPasses };
  const turns = createTurns();
  const derive = (password: string, nonce: Buffer, tagLength: number, memory: number, passes: number, lanes: number) =>
    turns(() =>
      hash('argon2id', { message: password.normalize('NFKC'), nonce, memory, passes, parallelism: lanes, tagLength }),
    );
  const dummy = { nonce: randomBytes(16), tag: randomBytes(cost.tagLength) };
  return {
    async hash(password) {
      const nonce = randomBytes(16);
      const tag = await derive(password, nonce, cost.tagLength, cost.memory, cost.passes, cost.parallelism);
      const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
      return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(nonce)}$${base64(tag)}`;
    },
    async verify(password, stored) {
      const parsed = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(stored ?? '');
      const nonce = parsed ? Buffer.from(parsed[4] as string, 'base64') : dummy.nonce;
      const tag = parsed ? Buffer.from(parsed[5] as string, 'base64') : dummy.tag;
      const [memory, passes, lanes] = parsed
        ? [Number(parsed[1]), Number(parsed[2]), Number(parsed[3])]
        : [cost.memory, cost.passes, cost.parallelism];
      const derived = await derive(password, nonce, tag.length, memory, passes, lanes);
      return sameDigest(derived, tag) && parsed !== null;
    },
  };
}

// A queue with an end: whoever comes when it is full is asked to try again.
function createTurns() {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) {
      if (waiting.length >= waitingAtMost)
        throw new ServiceError('unavailable', 'Too many people are logging in just now; try again.');
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

const readable = 'abcdefghjkmnpqrstuvwxyz23456789';

/** A random password that can be read aloud and typed: four groups of five, 99 bits. */
export function newReadablePassword(): string {
  const letters: string[] = [];
  while (letters.length < 20) {
    // 248 is the largest multiple of 31 in a byte; the rest would favour the first letters.
    for (const byte of randomBytes(32))
      if (byte < 248 && letters.length < 20) letters.push(readable[byte % 31] as string);
  }
  return letters.join('').replace(/(.{5})(?=.)/g, '$1-');
}
