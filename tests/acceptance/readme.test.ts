// The README's first calls, run as they stand on a fresh system, answer what the README shows.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type RunningSystem, startSystem } from '@almanac/testkit/system';

const readme = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8');

/** The shell blocks in order, each with the answer that is shown right under it, if any. */
const steps = [...readme.matchAll(/```sh\n(.*?)```\n(?:```json\n(.*?)```)?/gs)].map(([, command, answer]) => ({
  command: command as string,
  answer,
}));

// Times and the number of calls so far differ from run to run; everything else is the same on every fresh system.
const steady = (text: string) =>
  JSON.stringify(JSON.parse(text), (key, value) =>
    key === 'calls' ? 0 : typeof value === 'string' ? value.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, 'a time') : value,
  );

describe('the README', () => {
  let system: RunningSystem;
  let folder: string;

  beforeAll(async () => {
    system = await startSystem({ demo: true });
    folder = mkdtempSync(join(tmpdir(), 'almanac-readme-'));
    symlinkSync(system.home, join(folder, '.almanac'));
  });

  afterAll(async () => {
    await system.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('shows what its first calls answer', async () => {
    expect(steps.filter(({ answer }) => answer !== undefined)).toHaveLength(5);
    const mark = '=== next ===';
    const script = steps.map(({ command }) => `${command}\necho; echo '${mark}'`).join('\n');
    const { stdout } = await promisify(execFile)(
      'bash',
      ['-euc', script.replaceAll('http://127.0.0.1:8080', system.baseUrl)],
      { cwd: folder, timeout: 240_000 },
    );
    const answers = stdout.split(mark).map((text) => text.trim());
    for (const [place, { answer }] of steps.entries())
      if (answer !== undefined) expect(steady(answers[place] as string)).toBe(steady(answer));
  });
});
