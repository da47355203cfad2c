// Every command that a page of docs/how-to shows: each program is listed here with the proof that
// its commands are right. References are resolved (scripts, parts of tests, paths, addresses of the
// API, services of Compose); for the rest the list names the test that runs it.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { blocksOf, commandsOf } from '../../scripts/documentation/shell-commands.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const { paths } = JSON.parse(read('docs/openapi.json')) as { paths: Record<string, Record<string, unknown>> };
const composeServices = [...read('deploy/compose.yaml').matchAll(/^ {2}([a-z][\w-]*):$/gm)].map(
  ([, name]) => name as string,
);
const parts = [...read('scripts/test.ts').matchAll(/^ {2}'?([\w-]+)'?: (?:1|mostWorkers),$/gm)].map(
  ([, name]) => name as string,
);
const checks = [...read('scripts/check.ts').matchAll(/^ {4}name: '(\w+)'/gm)].map(([, name]) => name as string);

// Pages that a test runs from beginning to end, so that nothing in them needs resolving.
const pagesThatRun = [
  ...read('tests/acceptance/operations/readme.test.ts').matchAll(/^ {4}\['([\w-]+)', \d+\],$/gm),
].map(([, name]) => `docs/how-to/${name}.md`);
const pages = globSync('docs/how-to/*.md', { cwd: root }).toSorted();
const commands = pages
  .filter((page) => !pagesThatRun.includes(page))
  .flatMap((page) => commandsOf(read(page)).map((words) => [page, words.join(' '), words] as const));

/**
 * `look` returns the problems of the words after the program; `shownBy` names the file that runs
 * such commands; `because` says why no test needs to.
 */
type Proof = { look: (words: string[]) => string[] } | { shownBy: string } | { because: string };

const proofs: Record<string, Proof> = {
  npm: { look: lookAtNpm },
  curl: { look: lookAtCall },
  // The functions of get-a-token.md: curl with a token, a part of an answer, the end of long work.
  api: { look: lookAtCall },
  pick: { shownBy: 'tests/acceptance/pipelines/pipelines.test.ts' },
  finished: { look: lookAtCall },
  almanac: { look: lookAtCompose }, // the alias of install.md
  deploy: { look: () => [] }, // scripts of ours: their paths are looked at everywhere
  scripts: { look: () => [] },
  node: { shownBy: 'tests/deploy/compose.test.ts' }, // deploy/compose-env.js; the keys of configure.md are in configuration-docs.test.ts
  git: { because: 'it is not ours' },
  npx: { because: 'it runs what is not ours; the client of the repository is made by the same generator' },
  base64: { because: 'it is not ours' },
  zcat: { because: 'it is not ours' },
  psql: { shownBy: 'tests/deploy/backup-restore.real.test.ts' },
  cat: { because: 'it is not ours' },
  echo: { because: 'it is not ours' },
  umask: { because: 'it is not ours' },
  chmod: { because: 'it is not ours' },
  mkdir: { because: 'it is not ours' },
  cp: { because: 'it is not ours' },
  '[': { because: 'it is of the shell' },
  sleep: { because: 'it is not ours' },
  eval: { because: 'it is of the shell; what it takes is looked at' },
  alias: { because: 'it is of the shell; compose.test.ts runs what it stands for' },
  docker: { shownBy: 'tests/deploy/compose.test.ts' },
  kubectl: { shownBy: 'tests/deploy/kubernetes/cluster.test.ts' },
};

function lookAtNpm(words: string[]): string[] {
  const [command = '', ...rest] = words.filter((word) => word !== '-s' && word !== '--silent');
  if (command === 'run') {
    const [script = '', dashes, ...given] = rest;
    if (!(script in scripts)) return [`there is no script ${script}`];
    const unknown = script === 'check' && dashes === '--' ? given.filter((name) => !checks.includes(name)) : [];
    return unknown.map((name) => `there is no check ${name}`);
  }
  if (command === 'test') {
    const named = rest.includes('--part') ? (rest[rest.indexOf('--part') + 1] ?? '').split(',') : [];
    return named.filter((part) => !parts.includes(part)).map((part) => `there is no part ${part}`);
  }
  return ['ci', 'start', 'install', 'pack'].includes(command) ? [] : [`npm ${command} is not known here`];
}

// Numbers and variables stand for parameters. Clients find the token endpoint in the metadata.
const routes = [...Object.keys(paths), '/oauth/token'].map(
  (path) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
);

function lookAtCall(words: string[]): string[] {
  const called = words.flatMap((word) => /^["']?(?:\$\{?\w+\}?|https?:\/\/[^/]+)(\/[^?"']*)/.exec(word)?.[1] ?? []);
  return called
    .map((path) => (path.startsWith('/api/v1/') || path.startsWith('/oauth/') ? path : `/api/v1${path}`))
    .filter((path) => !routes.some((route) => route.test(path)))
    .map((path) => `there is no ${path} in the API`);
}

function lookAtCompose(words: string[]): string[] {
  const [command = '', ...rest] = words;
  if (!['up', 'run', 'ps', 'logs', 'down', 'stop', 'exec'].includes(command))
    return [`compose ${command} is not known here`];
  const names = rest.filter((word) => !word.startsWith('-'));
  const services = command === 'run' || command === 'exec' ? names.slice(0, 1) : names;
  return services.filter((name) => !composeServices.includes(name)).map((name) => `compose.yaml has no ${name}`);
}

// Paths of the repository in any word. Paths that a reader makes are relative to nothing of ours.
const brokenPaths = (words: string[]) =>
  words
    .flatMap(
      (word) =>
        word.match(/(?<![\w/.])(?:deploy|docs|packages|protos|releases|scripts|services|tests)\/[\w./-]+/g) ?? [],
    )
    .filter((path) => !existsSync(join(root, path.replace(/[.:]$/, ''))));

describe('commands of docs/how-to', () => {
  it('are found', () => expect([commands.length > 60, pagesThatRun.length]).toEqual([true, 9]));

  it.each(commands)('%s: %s', (_page, _line, [program = '', ...words]) => {
    const name = program.replace(/^(deploy|scripts)\/.*$/, '$1');
    const proof = proofs[name];
    if (!proof) throw new Error(`Nothing proves that ${program} is right: name it in documented-commands.test.ts.`);
    if ('shownBy' in proof) expect(existsSync(join(root, proof.shownBy))).toBe(true);
    expect('look' in proof ? proof.look(words) : []).toEqual([]);
    expect(brokenPaths([program, ...words])).toEqual([]);
  });
});

// Pages about keeping a system running: a test runs each of their commands.
const kept = [
  'add-a-service',
  'backup-and-restore',
  'install',
  'kubernetes',
  'operate',
  'rotate-certificates',
  'rotate-keys',
  'scale',
  'upgrade',
];
const tests = globSync(['tests/**/*.test.ts', 'services/*/tests/**/*.test.ts'], { cwd: root }).map(
  (path) => [path, read(path)] as const,
);

const tooOldForBackups = 'the cluster of the tests is too old for the CronJob and its volume';

/** Why no test runs a command as it is written. */
const notRun: Record<string, string> = {
  'chmod 600 almanac.env': 'it is not ours',
  'mkdir /tmp/trial': 'it is not ours',
  'umask 077': 'it is not ours',
  'mkdir -p .almanac': 'it is not ours',
  'cp secrets.json /tmp/trial/': 'it is not ours',
  'base64 -d': 'it is not ours',
  'cat old-authority.crt new-authority.crt': 'it is not ours',
  "alias almanac='docker compose --env-file almanac.env -f deploy/compose.yaml'":
    'compose.test.ts has it as a function',
  'deploy/images.sh': '.ci/run builds the images with it',
  'npm run generate': 'npm ci runs it',
  'npm run openapi': 'npm run check compares what it makes',
  'npm run permissions': 'npm run check compares what it makes',
  'npm run licences': 'npm run check compares what it makes',
  'npm run check': '.ci/run runs it',
  'npm test': '.ci/run runs it',
  'npm start -- --no-demo': 'tests/support/backup-restore.suite.ts starts the restored system so',
  'kubectl -n almanac create configmap almanac-server-authorities --from-file=ca.crt':
    'it needs servers outside the cluster',
  'kubectl diff -k deploy/k8s/overlays/production': 'it needs servers outside the cluster',
  'kubectl apply -k deploy/k8s/overlays/production': 'it needs servers outside the cluster',
  'kubectl apply -f deploy/k8s/overlays/production/namespace.yaml': 'it needs servers outside the cluster',
  'kubectl -n almanac wait certificate/almanac-rpc-authority --for=condition=Ready --timeout=5m':
    'it needs cert-manager',
  "kubectl -n almanac get secret almanac-rpc-authority -o jsonpath='{.data.tls\\.crt}'": 'it needs cert-manager',
  'kubectl -n almanac create configmap almanac-rpc-authorities --from-file=ca.crt=authority.crt':
    'it needs cert-manager',
  'docker push registry.example.com/almanac/data:0.2.0': 'it needs a registry',
  "docker inspect --format '{{index .RepoDigests 0}}' registry.example.com/almanac/data:0.2.0": 'it needs a registry',
  'kubectl -n almanac create secret tls almanac-tls --cert=host.crt --key=host.key': 'it needs an Ingress',
  'kubectl -n almanac create job --from=cronjob/backup backup-now': tooOldForBackups,
  'kubectl -n almanac wait job/backup-now --for=condition=Complete --timeout=10m': tooOldForBackups,
  'kubectl -n almanac get jobs -l app.kubernetes.io/name=backup': tooOldForBackups,
  'kubectl -n almanac create job --from=cronjob/backup backup-by-hand': tooOldForBackups,
  'kubectl -n almanac logs job/backup-by-hand': tooOldForBackups,
  'kubectl -n almanac scale deployment gateway identity metadata data jobs billing console --replicas=0':
    tooOldForBackups,
  'kubectl -n almanac scale deployment gateway identity metadata data jobs billing console --replicas=2':
    tooOldForBackups,
  'kubectl -n almanac exec deployment/operator -- node packages/admin-cli/src/main.ts restore /backups/2026-06-30T02-00-05Z':
    tooOldForBackups,
  'kubectl -n almanac apply -k deploy/k8s/services/data': 'the cluster of the tests is too old for its autoscaler',
};

describe('commands that keep a system running', () => {
  const run = new Set(
    tests.flatMap(([, text]) =>
      [...text.matchAll(/\bshown\(\s*'([\w-]+)\.md',\s*'([^']+)'/g)].map(([, page, command]) => `${page}: ${command}`),
    ),
  );
  // Tests pass the words of the operators' command line one by one.
  const runByOperators = (words: string[]) => {
    const given = words.slice(words.indexOf('--') + 1);
    const options = given.filter((word) => word.startsWith('--'));
    const named = given.slice(0, given.findIndex((word) => !/^[a-z][a-z-]*$/.test(word)) >>> 0).slice(0, 2);
    const inOrder = new RegExp(named.map((word) => `'${word}'`).join(',\\s*'));
    return tests.some(
      ([, text]) => named.length > 0 && inOrder.test(text) && options.every((option) => text.includes(`'${option}'`)),
    );
  };
  const here = pages
    .filter((page) => kept.some((name) => page.endsWith(`/${name}.md`)))
    .flatMap((page) =>
      commandsOf(read(page)).map(
        (words) => [page.slice(page.lastIndexOf('/') + 1, -3), words.join(' '), words] as const,
      ),
    );

  it.each(here)('%s: %s', (page, line, words) => {
    if (line in notRun) return;
    if (line.startsWith('npm run -s admin -- '))
      return expect(line === 'npm run -s admin -- --help' || runByOperators(words)).toBe(true);
    expect([...run]).toContain(`${page}: ${line}`);
  });

  it('has nothing left over', () => {
    const lines = here.map(([, line]) => line);
    expect(Object.keys(notRun).filter((line) => !lines.includes(line))).toEqual([]);
    expect([...run].filter((each) => !here.some(([page, line]) => each === `${page}: ${line}`))).toEqual([]);
  });
});

describe('settings that commands of docs/how-to name', () => {
  const ours = /\b((?:ALMANAC|GATEWAY|IDENTITY|METADATA|DATA|JOBS|BILLING|CONSOLE)_[A-Z_]+)=/g;
  const named = pages.flatMap((page) =>
    blocksOf(read(page)).flatMap((text) => [...text.matchAll(ours)].map(([, name]) => [page, name as string] as const)),
  );
  const sources = [
    '{scripts,packages/testkit/src,services/*/src,packages/service-kit/src}/**/*.ts',
    'deploy/compose.yaml',
  ];
  const code = globSync(sources, {
    cwd: root,
    exclude: (path) => /\bgenerated\b/.test(path) || path.endsWith('.test.ts'),
  })
    .map(read)
    .join('\n');

  const scriptsOf = (page: string) => [...read(page).matchAll(/```js\n([\s\S]*?)```/g)].join('\n');

  it.each(named)('%s: %s', (page, name) => {
    if (scriptsOf(page).includes(name)) return; // a setting of the page's own script
    // Some names are made of a service's name and a suffix.
    expect(code.includes(name) || code.includes(`}${name.slice(name.indexOf('_'))}`)).toBe(true);
  });
});

describe('files that docs/how-to/add-a-service.md names', () => {
  const files = [
    ...read('docs/how-to/add-a-service.md').matchAll(/`((?:deploy|packages|protos|scripts|services|tests)\/[^`]+)`/g),
  ]
    .map(([, path]) => path as string)
    .map((path) => [path, path.replaceAll('<name>', 'billing')] as const);
  it.each(files)('%s', (_path, path) => {
    expect(existsSync(join(root, path))).toBe(true);
  });
});

describe('links of docs/how-to', () => {
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)#:]+\.\w+)[^)]*\)/g)].map(([, link]) => [page, link as string] as const),
  );
  it.each(links)('%s: %s', (page, link) => {
    expect(existsSync(resolve(root, page, '..', link))).toBe(true);
  });
});
