// The README's first calls, for tests that make them.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type ReadmeCall = { shown: string; answered: string };

/** Runs the calls one after another in a folder that has `.almanac/credentials.json`; answers what the README shows right under each, where it shows something, and what came. */
export async function readmeCalls(baseUrl: string, folder: string): Promise<ReadmeCall[]> {
  const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
  const steps = [...readme.matchAll(/```sh\n(.*?)```\n(?:```json\n(.*?)```)?/gs)];
  const mark = '=== next ===';
  const script = steps.map(([, command]) => `${command}\necho; echo '${mark}'`).join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-euc', script.replaceAll('http://127.0.0.1:8080', baseUrl)], {
    cwd: folder,
    timeout: 240_000,
  });
  const answers = stdout.split(mark);
  return steps.flatMap(([, , shown], place) =>
    shown === undefined ? [] : [{ shown: steady(shown), answered: steady(answers[place] as string) }],
  );
}

// Times and the number of calls so far differ from run to run; everything else is the same on every fresh system.
const steady = (text: string) =>
  JSON.stringify(JSON.parse(text), (key, value) =>
    key === 'calls' ? 0 : typeof value === 'string' ? value.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, 'a time') : value,
  );
