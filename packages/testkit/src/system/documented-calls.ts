// Runs the calls that the README and the how-to pages show.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type DocumentedCall = { shown: string; answered: string };

const root = join(import.meta.dirname, '../../../..');
const separator = '=== next ===';

/**
 * Runs the calls of a page (by default the README) one after another, in a folder that has
 * `.almanac/credentials.json`, with `token` if the page needs a person's. Answers the shown and the
 * received answer of each call that has one right under it.
 */
export async function runDocumentedCalls(
  baseUrl: string,
  folder: string,
  page?: string,
  token?: string,
): Promise<DocumentedCall[]> {
  const readme = stepsOf('README.md');
  const steps = page === undefined ? readme : stepsOf(page);
  // Every page uses the token of the README's first call, and the functions of get-a-token.md.
  const before =
    page === undefined ? [] : [...readme.slice(0, 1), ...stepsOf('docs/how-to/get-a-token.md').slice(0, 1)];
  const commands = [...before, ...steps].map(({ command }) => `${command}\necho; echo '${separator}'`);
  if (token !== undefined) commands.splice(before.length, 0, `TOKEN='${token}'`);
  const script = commands.join('\n');
  const local = script.replaceAll('http://127.0.0.1:8080', baseUrl);
  const { stdout } = await promisify(execFile)('bash', ['-euc', local], { cwd: folder, timeout: 240_000 });
  const answers = stdout.split(separator).slice(before.length);
  return steps.flatMap(({ shown }, place) =>
    shown === undefined ? [] : [{ shown: comparable(shown), answered: comparable(answers[place] as string) }],
  );
}

type Step = { command: string; shown: string | undefined };

function stepsOf(file: string): Step[] {
  const text = readFileSync(join(root, file), 'utf8');
  const steps = text.matchAll(/```sh\n(.*?)```\n(?:```json\n(.*?)```)?/gs);
  return [...steps].map(([, command, shown]) => ({ command: command as string, shown }));
}

// Times and the number of calls differ from run to run; the rest is equal on every new system.
const comparable = (text: string) =>
  JSON.stringify(JSON.parse(text), (key, value) =>
    key === 'calls' ? 0 : typeof value === 'string' ? value.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, 'a time') : value,
  );
