// The log of a service that runs in the test's own process, looked through for every secret that
// its test met.
import { createFinder, describeLeaks, type Secret } from './secret-finder.ts';
import { type Watcher, watchFetch, watchValue } from './secret-watch.ts';

export type WatchedLog = {
  /** Where the service writes its lines, at the finest level. */
  destination: { write(line: string): void };
  /** All lines so far. */
  text(): string;
  /** The client, with the secrets it is answered noted. */
  watched<T extends object>(client: T): T;
  /** Notes secrets that come on no watched way, by the names of their properties. */
  note(value: unknown): void;
  /**
   * Throws when a secret stands in a line, in an answer that refused something, or in what is given
   * beside.
   */
  expectNoSecret(beside?: Record<string, unknown>): void;
};

type Seen = {
  testFile: string | undefined;
  secrets: Secret[];
  plain: Set<string>;
  refusals: object[];
  watcher: Watcher;
};
let seen: Seen | undefined;

/**
 * What the requests of this test file have shown; files that run one after the other share this
 * module, not what it saw.
 */
function watchFile(): Seen {
  const { testPath: testFile } = expect.getState();
  if (seen && seen.testFile === testFile) return seen;
  const secrets: Secret[] = [];
  const plain = new Set<string>();
  const refusals: object[] = [];
  const watcher: Watcher = {
    secret: (secret) => void secrets.push(secret),
    plain: (value) => void plain.add(value),
    refusal: (answer) => void refusals.push(answer),
  };
  globalThis.fetch = watchFetch(globalThis.fetch, watcher);
  seen = { testFile, secrets, plain, refusals, watcher };
  return seen;
}

/** Begins a log; from now on every request of this test file is watched. */
export function watchLog(): WatchedLog {
  const { secrets, plain, refusals, watcher } = watchFile();
  const lines: string[] = [];
  return {
    destination: { write: (line) => void lines.push(line) },
    text: () => lines.join(''),
    note: (value) => watchValue(value, watcher),
    watched: (client) =>
      new Proxy(client, {
        get: (target, name) => {
          const member = Reflect.get(target, name) as unknown;
          if (typeof member !== 'function') return member;
          return async (...values: unknown[]) => {
            const answer = await member.apply(target, values);
            watchValue(answer, watcher);
            return answer;
          };
        },
      }),
    expectNoSecret: (beside = {}) => {
      const find = createFinder(secrets.filter(({ value }) => !plain.has(value)));
      const places = { 'the log': lines.join(''), 'an answer': refusals, ...beside };
      const leaks = Object.entries(places).flatMap(([place, content]) =>
        find(typeof content === 'string' ? content : JSON.stringify(content)).map((leak) => ({ ...leak, place })),
      );
      if (leaks.length > 0) throw new Error(`Secrets stand where they must not:\n${describeLeaks(leaks)}`);
    },
  };
}
