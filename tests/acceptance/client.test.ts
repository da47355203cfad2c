// The client package as its users get it: packed, unpacked in an empty folder, and run by plain Node. Its documentation is the program.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { baseUrl, givenAccount } from '@almanac/testkit/builders';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const packageFolder = join(root, 'packages/client');

describe('the client package', () => {
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'almanac-client-'));
    // Scripts stay off: what is packed is what `npm run generate` has built for all tests.
    const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const { stdout } = await run('npm', words, { cwd: packageFolder });
    const [packed] = JSON.parse(stdout) as { filename: string }[];
    const modules = join(folder, 'node_modules');
    const own = join(modules, '@almanac/client');
    mkdirSync(own, { recursive: true });
    await run('tar', ['-xzf', join(folder, packed?.filename ?? ''), '-C', own, '--strip-components=1']);
    const { dependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const { resolve: find } = createRequire(join(packageFolder, 'package.json'));
    for (const name of Object.keys(dependencies))
      cpSync(dirname(find(`${name}/package.json`)), join(modules, name), { recursive: true });
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('does what its documentation shows', async () => {
    const page = readFileSync(join(root, 'docs/how-to/use-the-client.md'), 'utf8');
    const examples = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code);
    expect(examples.length).toBeGreaterThan(4);
    writeFileSync(join(folder, 'examples.mjs'), examples.join('\n'));
    const { application } = await givenAccount({ plan: 'plus' });
    const { stdout } = await run(process.execPath, ['examples.mjs'], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        ALMANAC_BASE_URL: baseUrl(),
        ALMANAC_CLIENT_ID: application.client_id,
        ALMANAC_CLIENT_SECRET: application.client_secret,
      },
    });
    const said = examples.flatMap((code = '') =>
      [...code.matchAll(/console\.log\(.*\); \/\/ (.+)/g)].map(([, text]) => text),
    );
    expect(said.length).toBeGreaterThan(3);
    for (const text of said) expect(stdout).toContain(text);
    expect(stdout).toMatch(/code,name/);
  });

  it('has types that hold its users to the documentation', async () => {
    const program = [
      "import { createClient } from '@almanac/client';",
      "const almanac = createClient({ baseUrl: 'http://127.0.0.1', token: 'x' });",
      "const name: string = (await almanac.get('/domains/{id}', { params: { path: { id: 1 } } })).name;",
      'for await (const { id } of almanac.list("/branches")) id.toFixed();',
      "await almanac.delete('/domains/{id}', { params: { path: { id: 1 } } });",
      '// @ts-expect-error There is no such path.',
      "await almanac.get('/domain');",
      '// @ts-expect-error The id is missing.',
      "await almanac.get('/domains/{id}');",
      '// @ts-expect-error The branch is missing.',
      'await almanac.post("/imports", { body: { correlation_code: name } });',
      '// @ts-expect-error One thing is no list.',
      'almanac.list("/account");',
    ];
    writeFileSync(join(folder, 'program.mts'), program.join('\n'));
    const tsc = join(dirname(createRequire(join(root, 'package.json')).resolve('typescript/package.json')), 'bin/tsc');
    const options = [
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--types',
      '',
      '--ignoreConfig',
    ];
    await run(process.execPath, [tsc, ...options, 'program.mts'], { cwd: folder }).catch(
      (failed: { stdout: string }) => {
        throw new Error(failed.stdout || String(failed));
      },
    );
  });
});
