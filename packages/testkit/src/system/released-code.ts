// The code of each service's last release, from git: it runs beside this code, as during the
// upgrade of a system, service by service.
import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '../../../..');
const run = promisify(execFile);

export type Release = { version: string; commit: string };

/** The last release of each service, as `npm run release -- record` wrote it. */
export function readReleases(): Record<string, Release> {
  return JSON.parse(readFileSync(join(root, 'releases/services.json'), 'utf8')) as Record<string, Release>;
}

export type ReleasedCode = {
  /** The folder with the code of the service's last release, ready to run. */
  rootOf(service: string): string;
};

let released: Promise<ReleasedCode> | undefined;

/**
 * Extracts the last releases of all services from git, each commit once, and generates their code.
 * The files of a run share it; its end removes it. An error says what to do when a commit is
 * missing.
 */
export function givenReleasedCode(): Promise<ReleasedCode> {
  released ??= extractReleases();
  return released;
}

async function extractReleases(): Promise<ReleasedCode> {
  const releases = readReleases();
  const folder = mkdtempSync(join(tmpdir(), 'almanac-released-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const commits = new Set(Object.values(releases).map(({ commit }) => commit));
  for (const commit of commits) await extractRelease(commit, join(folder, commit));
  return { rootOf: (service) => join(folder, (releases[service] as Release).commit) };
}

async function extractRelease(commit: string, tree: string): Promise<void> {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    git('cat-file', '-e', `${commit}^{commit}`);
  } catch {
    throw new Error(
      `git does not have the commit of the last release, ${commit}. In a shallow clone: git fetch --unshallow, or git fetch --depth 1 origin ${commit}.`,
    );
  }
  mkdirSync(tree);
  const tar = join(tree, 'release.tar');
  git(
    'archive',
    '--output',
    tar,
    commit,
    'package.json',
    'package-lock.json',
    'protos',
    'packages',
    'services',
    'scripts',
    'tests/package.json',
  );
  execFileSync('tar', ['-xf', tar], { cwd: tree });
  rmSync(tar);
  if (hasSamePackages(tree)) linkPackages(tree);
  else await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: tree });
  const { scripts } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8')) as { scripts: { generate: string } };
  const generate = scripts.generate.replace(/^node /, '');
  await run(process.execPath, ['--disable-warning=ExperimentalWarning', generate], {
    cwd: tree,
    env: { PATH: process.env.PATH, ALMANAC_CONSOLE: 'off' }, // no released console runs in tests
  });
}

type Locked = { version?: string; dev?: boolean; link?: boolean };

// Whether the packages of the release are installed here in the same versions.
function hasSamePackages(tree: string): boolean {
  const read = (folder: string) =>
    (JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> })
      .packages;
  const here = read(root);
  return Object.entries(read(tree)).every(
    ([place, { version, dev, link }]) =>
      dev || link || !place.includes('node_modules/') || here[place]?.version === version,
  );
}

// Links packages of others to those installed here, and our own to those of the release.
function linkPackages(tree: string): void {
  for (const workspace of ['.', ...workspacesOf(tree)]) {
    const installed = join(root, workspace, 'node_modules');
    if (!existsSync(installed)) continue;
    const modules = join(tree, workspace, 'node_modules');
    mkdirSync(modules);
    for (const name of readdirSync(installed)) {
      if (name !== '@almanac') symlinkSync(join(installed, name), join(modules, name));
      else {
        mkdirSync(join(modules, name));
        for (const own of readdirSync(join(installed, name)))
          symlinkSync(readlinkSync(join(installed, name, own)), join(modules, name, own));
      }
    }
  }
}

const workspacesOf = (tree: string) =>
  ['packages', 'services'].flatMap((kind) => readdirSync(join(tree, kind)).map((name) => join(kind, name)));
