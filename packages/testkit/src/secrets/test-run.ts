// The folder of one run of tests against a system: the secrets that its tests saw, the answers to
// refused requests, and the logs of every system of the run. They are searched at the end.
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { toServiceError } from '@almanac/service-kit/errors';
import { createFinder, describeLeaks, type Secret, shortestSecret } from './secret-finder.ts';
import { type Watcher, watchValue } from './secret-watch.ts';

const folderName = 'ALMANAC_TEST_RUN_FOLDER';

/** Begins a run; only its owner can read its folder. */
export function beginRun(): void {
  process.env[folderName] = mkdtempSync(join(tmpdir(), 'almanac-run-'));
}

const faultTexts = [toServiceError(undefined).message, 'a request could not be served'];
const recorded = new Set<string>();

/** Records secrets and refusals for the end of the run; outside a run it does nothing. */
export const runWatcher: Watcher = {
  secret: ({ kind, value }) => {
    if (value.length < shortestSecret || recorded.has(value)) return;
    recorded.add(value);
    append('secrets.jsonl', { kind, value });
  },
  refusal: (answer) => append('refusals.jsonl', answer),
};

function append(file: string, entry: object): void {
  const folder = process.env[folderName];
  if (folder) appendFileSync(join(folder, file), `${JSON.stringify(entry)}\n`);
}

/** Keeps the logs and the output of a system that has ended, and records its own secrets. */
export function keepLogs(home: string, output: string): void {
  const folder = process.env[folderName];
  if (!folder || !existsSync(home)) return;
  const name = `${basename(home)}.${readdirSync(folder).length}`;
  if (existsSync(join(home, 'logs'))) cpSync(join(home, 'logs'), join(folder, name), { recursive: true });
  writeFileSync(join(folder, `${name}.output.log`), output);
  if (!existsSync(join(home, 'secrets.json'))) return;
  const secrets = JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8'));
  watchValue(secrets, runWatcher);
  for (const value of Object.values<string>(secrets.database_passwords))
    runWatcher.secret({ kind: 'a password of a database', value });
}

/**
 * Ends the run: searches all that was kept and deletes it. Answers the leaked secrets as text, and
 * the log lines of internal errors, which callers got as a 500.
 */
export function endRun(): { files: number; secrets: number; leaks: string; faults: string[] } {
  const folder = process.env[folderName] as string;
  try {
    const file = join(folder, 'secrets.jsonl');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    const secrets = lines.map((line) => JSON.parse(line) as Secret);
    const find = createFinder(secrets);
    const places = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((place) =>
      /\.log(\.\d)?$|^refusals\.jsonl$/.test(place),
    );
    const leaks = places.flatMap((place) =>
      find(readFileSync(join(folder, place))).map((leak) => ({ ...leak, place })),
    );
    const faults = places.flatMap((place) =>
      readFileSync(join(folder, place), 'utf8')
        .split('\n')
        .filter((line) => line.includes('"level":"error"') && faultTexts.some((text) => line.includes(text))),
    );
    return { files: places.length, secrets: secrets.length, leaks: describeLeaks(leaks), faults };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    delete process.env[folderName];
  }
}
