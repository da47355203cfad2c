// A process that can't start or crashes logs one line with the reason, without any secret.
import { execFile } from 'node:child_process';
import { join } from 'node:path';

const run = join(import.meta.dirname, '../src/process/run.ts');

/** Runs a service with this body of `create`; answers its exit code and its output. */
function runWith(create: string, readConfig = 'return {};'): Promise<{ code: number | null; output: string }> {
  const script = `
    import { runService } from ${JSON.stringify(run)};
    import { ConfigError } from ${JSON.stringify(join(import.meta.dirname, '../src/config/config.ts'))};
    const failure = Object.assign(new TypeError('it broke'), { code: 'E_BROKEN', input: 'amqp://u:s3cret@host', query: 's3cret' });
    await runService({
      name: 'test',
      readConfig: () => { ${readConfig} },
      create: async () => { ${create} },
    });`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script];
  return new Promise((done) => {
    const child = execFile(process.execPath, args, { timeout: 60_000 }, (_error, stdout, stderr) =>
      done({ code: child.exitCode, output: stdout + stderr }),
    );
  });
}

describe('a service that', () => {
  const running = 'start: async () => {}, stop: async () => {}, context: {}';

  it.each([
    ['can not be created', 'throw failure;', 'did not start'],
    ['does not start', 'return { start: async () => { throw failure; } };', 'did not start'],
    ['crashes later', `setTimeout(() => { throw failure; }, 10); return { ${running} };`, 'crashed'],
    ['does not await a promise', `setTimeout(() => Promise.reject(failure), 10); return { ${running} };`, 'crashed'],
    [
      'does not stop',
      `setTimeout(() => process.kill(process.pid, 'SIGTERM'), 50); setInterval(() => {}, 1000);
       return { start: async () => {}, stop: async () => { throw failure; } };`,
      'did not stop cleanly',
    ],
  ])('%s logs the reason in one line', async (_case, create, msg) => {
    const { code, output } = await runWith(create);
    expect(code).toBe(1);
    expect(output.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(output)).toMatchObject({
      level: 'fatal',
      service: 'test',
      msg,
      err: { type: 'TypeError', message: 'it broke', code: 'E_BROKEN', stack: expect.any(String) },
    });
    expect(output).not.toContain('s3cret');
  });

  it('is not configured says so in plain words', async () => {
    const { code, output } = await runWith('', "throw new ConfigError(['DATA_DATABASE_URL is missing.']);");
    expect(code).toBe(78); // a supervisor need not try again
    expect(output).toBe('test: The configuration has 1 problem(s):\n  - DATA_DATABASE_URL is missing.\n');
  });
});
