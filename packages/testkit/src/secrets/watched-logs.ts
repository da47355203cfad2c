// The log of a service that runs in the process of its test, searched for every secret that the
// test saw.
import { createFinder, describeLeaks, type Secret } from './secret-finder.ts';
import { type Watcher, watchFetch, watchValue } from './secret-watch.ts';

export type WatchedLog = {
  /** Receives the lines of the service, at the finest level. */
  destination: { write(line: string): void };
  /** All lines so far. */
  text(): string;
  /** The client, with the secrets in its answers recorded. */
  watched<T extends object>(client: T): T;
  /** Records secrets that no watched request carries, by the names of their properties. */
  note(value: unknown): void;
  /**
   * Throws when a line, the answer to a refused request, or one of the `others` contains a secret.
   */
  expectNoSecret(others?: Record<string, unknown>): void;
};

type Watched = {
  testFile: string | undefined;
  secrets: Secret[];
  plain: Set<string>;
  refusals: object[];
  watcher: Watcher;
};
let current: Watched | undefined;

/**
 * What the requests of this test file contained. Files that run one after another share this
 * module, not its records.
 */
function watchFile(): Watched {
  const { testPath: testFile } = expect.getState();
  if (current && current.testFile === testFile) return current;
  const secrets: Secret[] = [];
  const plain = new Set<string>();
  const refusals: object[] = [];
  const watcher: Watcher = {
    secret: (secret) => void secrets.push(secret),
    plain: (value) => void plain.add(value),
    refusal: (answer) => void refusals.push(answer),
  };
  globalThis.fetch = watchFetch(globalThis.fetch, watcher);
  current = { testFile, secrets, plain, refusals, watcher };
  return current;
}

/** Begins a log; every later request of this test file is watched. */
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
    expectNoSecret: (others = {}) => {
      const find = createFinder(secrets.filter(({ value }) => !plain.has(value)));
      const places = { 'the log': lines.join(''), 'an answer': refusals, ...others };
      const leaks = Object.entries(places).flatMap(([place, content]) =>
        find(typeof content === 'string' ? content : JSON.stringify(content)).map((leak) => ({ ...leak, place })),
      );
      if (leaks.length > 0) throw new Error(`Secrets were found in logs or answers:\n${describeLeaks(leaks)}`);
    },
  };
}
