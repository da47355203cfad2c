// The disk of the log is full: the process works on and ends in time, and logs how many lines were
// lost as soon as there is room. Needs root on Linux, for a small file system of its own.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from '@almanac/testkit/eventually';
import { endProcess } from '@almanac/testkit/processes/end-process';

const logger = resolve(import.meta.dirname, '../../packages/service-kit/src/observability/logger.ts');
const program = `
  import { createLogger } from ${JSON.stringify(logger)};
  const logger = createLogger('data', 'info');
  const text = 'x'.repeat(1000);
  process.on('SIGTERM', () => process.exit(0));
  for (let n = 0; ; n += 1) {
    logger.info({ n, text }, 'line');
    process.send(n);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }`;

let folder: string;
let child: ChildProcess;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-small-log-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128k,mode=0755', 'tmpfs', folder]);
});
afterAll(async () => {
  await endProcess(child, 'SIGKILL');
  execFileSync('umount', [folder]);
  rmSync(folder, { recursive: true });
});

it('a full disk under the log stops no process, and lost lines are reported when there is room', async () => {
  const file = join(folder, 'log');
  let reached = -1;
  const fd = openSync(file, 'a');
  child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', fd, 'inherit', 'ipc'],
  });
  closeSync(fd);
  child.on('message', (n) => {
    reached = n as number;
  });
  const lines = () => readFileSync(file, 'utf8').split('\n').slice(0, -1);
  for (let round = 0; round < 2; round += 1) {
    const before = reached;
    await eventually(() => expect(reached).toBeGreaterThan(before + 400)); // three times what there is room for
    truncateSync(file);
    await eventually(() => {
      const reported = lines().findIndex((line) => line.includes('were lost'));
      expect(JSON.parse(lines()[reported] as string)).toMatchObject({
        level: 'warn',
        service: 'data',
        lost: expect.any(Number),
      });
      expect(JSON.parse(lines()[reported + 1] as string)).toMatchObject({ msg: 'line' });
    });
  }
  const before = reached;
  await eventually(() => expect(reached).toBeGreaterThan(before + 400));
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
