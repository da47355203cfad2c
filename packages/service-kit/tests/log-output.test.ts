import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from '@almanac/testkit/eventually';
import { createLogOutput } from '../src/observability/log-output.ts';

const source = resolve(import.meta.dirname, '../src/observability/log-output.ts');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-log-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the statements, which have an `output`, in a process whose stdout is the file. */
async function run(file: string, statements: string): Promise<{ code: number | null; errors: string }> {
  const program = `import { createLogOutput } from ${JSON.stringify(source)}; const output = createLogOutput(1, 'test'); ${statements}`;
  const fd = openSync(file, 'a');
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', fd, 'pipe'] });
  closeSync(fd);
  let errors = '';
  child.stderr?.on('data', (text) => {
    errors += text;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { code, errors };
}

it('writes lines in their order, soon and without a flush', async () => {
  const file = join(folder, 'lines');
  const fd = openSync(file, 'a');
  const output = createLogOutput(fd, 'test');
  const lines = Array.from({ length: 10_000 }, (_, n) => `${n} ä\n`);
  for (const line of lines) output.write(line);
  await eventually(() => expect(readFileSync(file, 'utf8')).toBe(lines.join('')));
  output.write('last\n');
  await eventually(() => expect(readFileSync(file, 'utf8')).toBe(`${lines.join('')}last\n`));
  closeSync(fd);
});

it('writes what is left when the process exits', async () => {
  const file = join(folder, 'exit');
  expect(await run(file, `output.write('begin\\n'); process.exit(3);`)).toEqual({ code: 3, errors: '' });
  expect(readFileSync(file, 'utf8')).toBe('begin\n');
});

it('lets a process with a full disk go on in bounded memory, and end', async () => {
  const { code, errors } = await run(
    '/dev/full',
    `const line = 'x'.repeat(1023) + '\\n';
     for (let n = 0; n < 300; n += 1) {
       for (let m = 0; m < 1024; m += 1) output.write(line);
       await new Promise(setImmediate);
     }
     output.write('end');
     if (process.memoryUsage().rss > 250e6) console.error('too much memory');
     process.exit(4);`,
  );
  expect({ code, errors }).toEqual({ code: 4, errors: '' });
});
