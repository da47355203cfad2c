// Generates the Prisma clients of the services, the TypeScript types of protos/, the client
// package, and the console's web application, which needs the client. Runs after every install,
// and skips what is up to date by content. ALMANAC_CONSOLE=off leaves the console out.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);
const stampName = '.generated-from';

type Tool = { script: string; version: string };

/** A generated folder with its sources and its generator. */
type Target = { name: string; sources: string[]; output: string; tool: () => Tool; options: string[]; make: Make };
type Make = (target: Target, tool: Tool) => Promise<void>;

// The options of service-kit's loader: with other ones, types and values would differ.
const protoOptions = [
  '--keepCase',
  '--longs=Number',
  '--enums=String',
  '--defaults',
  '--grpcLib=@grpc/grpc-js',
  '--importFileExtension=.ts',
];

// The console needs the client.
const groups = [[...prismaTargets(), ...protoTargets(), ...clientTargets()], consoleTargets()];
const staleGroups = groups.map((group) => group.filter((target) => !isFresh(target)));
const stale = staleGroups.flat();
const results: PromiseSettledResult<void>[] = [];
for (const group of staleGroups) results.push(...(await Promise.allSettled(group.map(generate))));
const failures = results.flatMap((result) => (result.status === 'rejected' ? [(result.reason as Error).message] : []));
if (failures.length > 0) {
  console.error(`generate: failed\n${failures.join('\n')}`);
  process.exitCode = 1;
} else {
  const names = stale.map((target) => target.name).join(', ');
  console.log(stale.length > 0 ? `generate: made ${names}` : `generate: all ${groups.flat().length} up to date`);
}

function prismaTargets(): Target[] {
  return globSync('services/*/prisma/schema.prisma', { cwd: root })
    .toSorted()
    .map((path) => {
      const schema = join(root, path);
      const output = /^\s*output\s*=\s*"([^"]+)"/m.exec(readFileSync(schema, 'utf8'))?.[1] ?? '../src/generated/prisma';
      return {
        name: `${path.split(/[\\/]/)[1]} (prisma)`,
        sources: [schema],
        output: resolve(dirname(schema), output),
        tool: () => findTool('prisma', 'prisma'),
        options: ['generate'],
        make: makePrismaClient,
      };
    });
}

function protoTargets(): Target[] {
  const sources = globSync('protos/almanac/*/v*/*.proto', { cwd: root }).toSorted();
  if (sources.length === 0) return [];
  const tool = () => findTool('@grpc/proto-loader', 'proto-loader-gen-types');
  const output = join(root, 'protos/generated');
  return [
    {
      name: 'protos',
      sources: sources.map((path) => join(root, path)),
      output,
      tool,
      options: protoOptions,
      make: makeProtoTypes,
    },
  ];
}

function clientTargets(): Target[] {
  const folder = join(root, 'packages/client');
  const document = join(root, 'docs/openapi.json');
  if (!existsSync(folder) || !existsSync(document)) return []; // an image of one service
  const sources = globSync('{src/*.ts,build.ts,tsconfig.json}', { cwd: folder }).filter(
    (path) => !path.endsWith('.test.ts'),
  );
  return [
    {
      name: 'client',
      sources: [document, ...sources.toSorted().map((path) => join(folder, path))],
      output: join(folder, 'dist'),
      tool: () => findTool('typescript', 'tsc'),
      options: ['-p', join(folder, 'tsconfig.json')],
      make: makeClient,
    },
  ];
}

function consoleTargets(): Target[] {
  const web = join(root, 'services/console/web');
  const client = join(root, 'packages/client');
  // An image of one service has no web application, one without development packages no builder.
  if (process.env.ALMANAC_CONSOLE === 'off' || !existsSync(web) || !existsSync(client) || !isInstalled('vite'))
    return [];
  const sources = globSync('**/*.*', { cwd: web }).filter((path) => !path.endsWith('.test.ts'));
  return [
    {
      name: 'console',
      sources: [
        join(root, 'package-lock.json'),
        join(root, 'docs/openapi.json'),
        ...globSync('src/*.ts', { cwd: client })
          .map((path) => join(client, path))
          .toSorted(),
        ...sources.map((path) => join(web, path)).toSorted(),
      ],
      output: join(root, 'services/console/dist'),
      tool: () => findTool('vite', 'vite'),
      options: ['build', '--config', 'services/console/web/vite.config.ts', '--emptyOutDir', '--logLevel', 'warn'],
      make: makeFolder,
    },
  ];
}

async function generate(target: Target): Promise<void> {
  const stamp = stampOf(target);
  await target.make(target, target.tool());
  writeFileSync(join(target.output, stampName), stamp);
}

// Prisma would download a schema engine that it doesn't need here; naming any executable prevents
// it.
async function makePrismaClient(target: Target, tool: Tool): Promise<void> {
  rmSync(target.output, { recursive: true, force: true });
  await run(target, tool, [...target.options, '--schema', target.sources[0] as string, '--no-hints'], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  });
}

async function makeClient(target: Target, tool: Tool): Promise<void> {
  await run(target, { ...tool, script: join(root, 'packages/client/build.ts') }, [], {});
  await makeFolder(target, tool);
}

async function makeFolder(target: Target, tool: Tool): Promise<void> {
  await replaceFolder(target.output, (fresh) => run(target, tool, [...target.options, '--outDir', fresh], {}));
}

async function makeProtoTypes(target: Target, tool: Tool): Promise<void> {
  const protos = join(root, 'protos');
  const files = target.sources.map((path) => relative(protos, path));
  await replaceFolder(target.output, (fresh) =>
    run(target, tool, [...target.options, `--outDir=${fresh}`, `--includeDirs=${protos}`, '--', ...files], {}),
  );
}

// Generates into a new folder and moves it, so that files without a source don't stay behind.
async function replaceFolder(output: string, make: (fresh: string) => Promise<void>): Promise<void> {
  const fresh = `${output}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    await make(fresh);
    rmSync(output, { recursive: true, force: true });
    renameSync(fresh, output);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function isFresh(target: Target): boolean {
  const path = join(target.output, stampName);
  return existsSync(path) && readFileSync(path, 'utf8') === stampOf(target);
}

function stampOf(target: Target): string {
  const hash = createHash('sha256');
  for (const path of target.sources) hash.update(relative(root, path)).update('\0').update(readFileSync(path));
  return `${toolVersion(target)} ${target.options.join(' ')} ${hash.digest('hex')}\n`;
}

// An image without development packages has no generator: its folders are checked by content alone.
function toolVersion(target: Target): string {
  try {
    return target.tool().version;
  } catch {
    const path = join(target.output, stampName);
    return existsSync(path) ? (readFileSync(path, 'utf8').split(' ')[0] as string) : 'none';
  }
}

function isInstalled(packageName: string): boolean {
  try {
    return require.resolve(`${packageName}/package.json`) !== '';
  } catch {
    return false;
  }
}

function findTool(packageName: string, command: string): Tool {
  const path = require.resolve(`${packageName}/package.json`);
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { version: string; bin: Record<string, string> };
  return { script: resolve(dirname(path), manifest.bin[command] as string), version: manifest.version };
}

function run(target: Target, tool: Tool, args: string[], env: Record<string, string>): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [tool.script, ...args], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk));
    child.once('error', fail);
    child.once('close', (code) => {
      if (code === 0) done();
      else fail(new Error(`${target.name}: ${tool.script} ended with ${code}\n${output.trim()}`));
    });
  });
}
