// The client package as its users get it: packed, unpacked in an empty folder and run by plain
// Node. The program is the code in its documentation.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { baseUrl, givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const packageFolder = join(root, 'packages/client');

describe('the client package', () => {
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'almanac-client-'));
    // Scripts stay off: the package holds what `npm run generate` built for all tests.
    const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const { stdout } = await run('npm', words, { cwd: packageFolder });
    const [packed] = JSON.parse(stdout) as { filename: string }[];
    const modules = join(folder, 'node_modules');
    const own = join(modules, '@almanac/client');
    mkdirSync(own, { recursive: true });
    await run('tar', ['-xzf', join(folder, packed?.filename ?? ''), '-C', own, '--strip-components=1']);
    const copyDependencies = (from: string) => {
      const file = join(from, 'package.json');
      const { dependencies = {} } = JSON.parse(readFileSync(file, 'utf8')) as { dependencies?: Record<string, string> };
      for (const name of Object.keys(dependencies)) {
        const found = dirname(createRequire(file).resolve(`${name}/package.json`));
        cpSync(found, join(modules, name), { recursive: true });
        copyDependencies(found);
      }
    };
    copyDependencies(packageFolder);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  type Application = { client_id: string; client_secret: string };
  const runAs = ({ client_id, client_secret }: Application, ...words: string[]) =>
    run(process.execPath, words, {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        ALMANAC_BASE_URL: baseUrl(),
        ALMANAC_CLIENT_ID: client_id,
        ALMANAC_CLIENT_SECRET: client_secret,
      },
    });

  it('holds its README, its licence and its types', () => {
    const own = join(folder, 'node_modules/@almanac/client');
    expect(readFileSync(join(own, 'README.md'), 'utf8')).toMatch(/^# @almanac\/client\n/);
    expect(readFileSync(join(own, 'LICENSE'), 'utf8')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'));
    const types = readFileSync(join(own, 'dist/generated/schema.d.ts'), 'utf8');
    for (const name of ['Domain', 'TableRecord', 'QueryGridRequest', 'NewDomain', 'DomainPage'])
      expect(types).toMatch(new RegExp(`^ {8}${name}: \\{$`, 'm'));
    expect(types).toContain('as_of?: string;');
  });

  it('does what its documentation shows', async () => {
    const page = readFileSync(join(root, 'docs/how-to/use-the-client.md'), 'utf8');
    const examples = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code);
    expect(examples.length).toBeGreaterThan(4);
    writeFileSync(join(folder, 'examples.mjs'), examples.join('\n'));
    const { application } = await givenAccount({ plan: 'plus' });
    const { stdout } = await runAs(application, 'examples.mjs');
    const promised = examples.flatMap((code = '') =>
      [...code.matchAll(/console\.log\(.*\); \/\/ (.+)/g)].map(([, text]) => text),
    );
    expect(promised.length).toBeGreaterThan(3);
    for (const text of promised) expect(stdout).toContain(text);
    expect(stdout).toMatch(/code,name/);
  });

  it('reads, writes, exports and imports long numbers without losing a digit', async () => {
    const account = await givenAccount({ plan: 'enterprise' });
    const columns = [
      { name: 'id', data_type: 'bigint', is_primary_key: true },
      { name: 'amount', data_type: 'decimal', length: 28, scale: 10 },
    ];
    const table = await givenDeployedTable(await account.person(), { columns });
    const { id, branchId: branch_id, key } = table;
    writeFileSync(
      join(folder, 'numbers.mjs'),
      `import { createClient } from '@almanac/client';
      const { ALMANAC_BASE_URL: baseUrl, ALMANAC_CLIENT_ID: clientId, ALMANAC_CLIENT_SECRET: clientSecret } = process.env;
      const almanac = createClient({ baseUrl, clientId, clientSecret });
      const query = { table_definition_id: ${id} };
      const wanted = { id: '9007199254740993', amount: '123456789012345678.0123456789' };
      const seen = [];
      const see = ({ id, amount }) => seen.push({ id, amount });

      const { record } = await almanac.post('/table_data', { body: { ...query, record: wanted } });
      see(record);
      const params = { path: { id: record.svc_sk } };
      const read = await almanac.get('/table_data/{id}', { params: { ...params, query } });
      see(read);
      const { id, amount } = read;
      see(await almanac.patch('/table_data/{id}', { params, body: { ...query, record: { id, amount } } }));
      for await (const row of almanac.rows(query)) see(row);
      for await (const row of almanac.list('/table_data', { params: { query } })) see(row);
      for await (const { record } of almanac.list('/table_data/{id}/history', { params: { ...params, query } })) see(record);
      const batch = { ...query, operations: [{ operation: 'update', id: record.svc_sk, record: { id, amount } }] };
      see((await almanac.post('/table_data/batch', { body: batch })).updated[0]);

      const files = [];
      for (const format of ['ndjson', 'json']) {
        const table = { branch_id: ${branch_id}, table_definition_key: '${key}', pattern: 'full' };
        const exported = await almanac.exportTable({ ...table, format, exact_numbers: true });
        const file = await (await almanac.download(exported.id)).text();
        see([JSON.parse(file)].flat()[0]);
        const { import_tables } = await almanac.importFile({ branch_id: ${branch_id}, ...query, pattern: 'full', file });
        files.push([exported.exact_numbers, import_tables[0].status, import_tables[0].metrics.unchanged]);
      }
      console.log(JSON.stringify({ seen, files }));`,
    );
    const { stdout } = await runAs(account.application, 'numbers.mjs');
    const { seen, files } = JSON.parse(stdout);
    const wanted = { id: '9007199254740993', amount: '123456789012345678.0123456789' };
    expect(seen.length).toBeGreaterThan(8);
    for (const each of seen) expect(each).toEqual(wanted);
    expect(files).toEqual([
      [true, 'completed', 1],
      [true, 'completed', 1],
    ]);
  });

  it('has types that hold its users to the documentation', async () => {
    const program = [
      "import { createClient, type RowOf } from '@almanac/client';",
      "const almanac = createClient({ baseUrl: 'http://127.0.0.1', token: 'x' });",
      "const name: string = (await almanac.get('/domains/{id}', { params: { path: { id: 1 } } })).name;",
      'for await (const { id } of almanac.list("/branches")) id.toFixed();',
      "await almanac.delete('/domains/{id}', { params: { path: { id: 1 } } });",
      "type Numbers = RowOf<{ id: 'bigint'; amount: 'decimal'; small: 'integer' }>;",
      'for await (const row of almanac.rows<Numbers>({ table_definition_id: 1 })) {',
      '  const digits: (string | null)[] = [row.id, row.amount];',
      '  const small: number | null = row.small;',
      '  // @ts-expect-error A bigint is no number.',
      '  const rounded: number | null = row.id;',
      '  console.log(digits, small, rounded, row.svc_sk.toFixed());',
      '}',
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
