// The calls that the README and the how-to pages show, for tests that make them.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type DocumentedCall = { shown: string; answered: string };

const root = join(import.meta.dirname, '../../../..');
const mark = '=== next ===';

/**
 * Runs the calls of a page (without one: the README) one after another in a folder that has `.almanac/credentials.json`; answers what
 * the page shows right under each, where it shows something, and what came.
 */
export async function documentedCalls(baseUrl: string, folder: string, page?: string): Promise<DocumentedCall[]> {
  const readme = stepsOf('README.md');
  const steps = page === undefined ? readme : stepsOf(page);
  // Every page begins with the token of the README.
  const before = page === undefined ? [] : readme.slice(0, 1);
  const script = [...before, ...steps].map(({ command }) => `${command}\necho; echo '${mark}'`).join('\n');
  const local = script.replaceAll('http://127.0.0.1:8080', baseUrl);
  const { stdout } = await promisify(execFile)('bash', ['-euc', local], { cwd: folder, timeout: 240_000 });
  const answers = stdout.split(mark).slice(before.length);
  return steps.flatMap(({ shown }, place) =>
    shown === undefined ? [] : [{ shown: steady(shown), answered: steady(answers[place] as string) }],
  );
}

type Step = { command: string; shown: string | undefined };

function stepsOf(file: string): Step[] {
  const text = readFileSync(join(root, file), 'utf8');
  const steps = text.matchAll(/```sh\n(.*?)```\n(?:```json\n(.*?)```)?/gs);
  return [...steps].map(([, command, shown]) => ({ command: command as string, shown }));
}

// Times and the number of calls so far differ from run to run; everything else is the same on every fresh system.
const steady = (text: string) =>
  JSON.stringify(JSON.parse(text), (key, value) =>
    key === 'calls' ? 0 : typeof value === 'string' ? value.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, 'a time') : value,
  );
