// `npm run check`: all static checks, a line each. CI runs them before the tests.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

type Check = { name: string; about: string; command: string[]; cwd?: string };

const checks: Check[] = [
  {
    name: 'generated',
    about: 'Prisma clients and proto types, rebuilt where their sources changed',
    command: script('build/generate.ts'),
  },
  {
    name: 'lint',
    about: 'formatting, imports, likely mistakes (biome)',
    command: [program('@biomejs/biome', 'biome'), 'check', '--error-on-warnings', '--diagnostic-level=warn', '.'],
  },
  { name: 'types', about: 'strict TypeScript (tsc)', command: [program('typescript', 'tsc'), '-p', 'tsconfig.json'] },
  {
    name: 'web types',
    about: 'strict TypeScript of the console in the browser (tsc)',
    command: [program('typescript', 'tsc'), '-p', 'services/console/web/tsconfig.json'],
  },
  {
    name: 'unused',
    about: 'unused files, exports and dependencies (knip)',
    command: [program('knip', 'knip'), '--no-progress', '--no-config-hints'],
  },
  {
    name: 'directions',
    about:
      'protos <- service-kit <- services <- testkit <- tests, no service imports a service, no cycles (dependency-cruiser)',
    command: [
      program('dependency-cruiser', 'depcruise'),
      '--config',
      '.dependency-cruiser.js',
      'packages',
      'services',
      'scripts',
      'tests',
    ],
  },
  {
    name: 'folders',
    about: 'no two folders of a package import each other, types included (dependency-cruiser)',
    command: [
      program('dependency-cruiser', 'depcruise'),
      '--config',
      '.dependency-cruiser.folders.js',
      'packages',
      'services',
      'scripts',
    ],
  },
  {
    name: 'words',
    about: 'no word of docs/refused-words.json, no comment over 100 columns',
    command: script('checks/words.ts'),
  },
  {
    name: 'migrations',
    about: "each service's migrations make its Prisma schema",
    command: script('build/migration.ts', '--check'),
  },
  {
    name: 'protos',
    about: 'the gRPC contracts (buf lint)',
    command: [program('@bufbuild/buf', 'buf'), 'lint'],
    cwd: 'protos',
  },
  {
    name: 'released',
    about: 'protos, the HTTP contract and schemas beside the last release of each service (buf breaking)',
    command: script('build/release.ts', 'check'),
  },
];

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !checks.some((check) => check.name === name));
if (unknown.length > 0) {
  console.error(`There is no check ${unknown.join(', ')}. They are: ${checks.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}

const chosen = checks.filter(({ name }) => asked.length === 0 || asked.includes(name));
const failures: string[] = [];
const queue = [...chosen];
await runCheck(queue.shift() as Check); // the others need its output
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
if (failures.length > 0) console.error(`\nFailed: ${failures.join(', ')}`);
process.exitCode = failures.length > 0 ? 1 : 0;

async function work(): Promise<void> {
  for (let check = queue.shift(); check; check = queue.shift()) await runCheck(check);
}

async function runCheck(check: Check): Promise<void> {
  const begun = performance.now();
  const { code, output } = await run(check);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`${code === 0 ? '✓' : '✗'} ${check.name.padEnd(11)} ${seconds.padStart(5)} s  ${check.about}`);
  if (code === 0) return;
  failures.push(check.name);
  console.log(output.trimEnd().replace(/^/gm, '    '));
}

function run({ command, cwd }: Check): Promise<{ code: number; output: string }> {
  return new Promise((done) => {
    const [file, ...args] = command as [string, ...string[]];
    const child = spawn(process.execPath, [file, ...args], {
      cwd: join(root, cwd ?? '.'),
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const keep = (chunk: Buffer) => {
      output += chunk;
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('close', (code) => done({ code: code ?? 1, output }));
  });
}

function script(name: string, ...args: string[]): string[] {
  return [join(root, 'scripts', name), ...args];
}

/** The JavaScript file behind a package's command; not every package exports its manifest. */
function program(packageName: string, name: string): string {
  const folder = join(root, 'node_modules', packageName);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    bin: string | Record<string, string>;
  };
  return join(folder, typeof bin === 'string' ? bin : (bin[name] as string));
}
