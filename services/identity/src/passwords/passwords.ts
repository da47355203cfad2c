// Hashing of users' passwords: argon2id with 2 passes and 1 lane. A few hashes run at once, so that
// many log-ins don't exhaust the memory.
import { argon2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { ServiceError } from '@almanac/service-kit/errors';
import { sameDigest } from '../security/digest.ts';

const hash = promisify(argon2);
const fixedCost = { passes: 2, parallelism: 1, tagLength: 32 };
const maxRunning = 2;
const maxWaiting = 200;

/** Limits of a password's length, in characters. */
export const passwordLimits = { minimum: 12, maximum: 200 } as const;

export type Passwords = {
  /** The hash to store. */
  hash(password: string): Promise<string>;
  /**
   * False for a wrong password. Without a stored hash it takes as long, so the time reveals
   * nothing.
   */
  verify(password: string, stored: string | null | undefined): Promise<boolean>;
};

/** `memory`: of one hash, in KiB; a stored hash keeps the memory that it was made with. */
export function createPasswords(memory: number): Passwords {
  const cost = { memory, ...fixedCost };
  const limited = createLimiter();
  const derive = (password: string, nonce: Buffer, tagLength: number, memory: number, passes: number, lanes: number) =>
    limited(() =>
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

// Runs a few at a time and queues the rest; a full queue refuses with 503.
function createLimiter() {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= maxRunning) {
      if (waiting.length >= maxWaiting)
        throw new ServiceError('unavailable', 'Too many users are logging in; try again later.');
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

const unambiguousCharacters = 'abcdefghjkmnpqrstuvwxyz23456789';

/**
 * A random password that is easy to read aloud and type: four groups of five characters, 99 bits.
 */
export function newReadablePassword(): string {
  const letters: string[] = [];
  while (letters.length < 20) {
    // 248 is the largest multiple of 31 in a byte; larger bytes would favour the first characters.
    for (const byte of randomBytes(32))
      if (byte < 248 && letters.length < 20) letters.push(unambiguousCharacters[byte % 31] as string);
  }
  return letters.join('').replace(/(.{5})(?=.)/g, '$1-');
}
