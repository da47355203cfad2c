// One project for each kind of test. scripts/test.ts decides which of them run;
// docs/how-to/run-tests.md says what each needs. The everyday loop leaves out `*.slow.test.ts`;
// `*.real.test.ts` needs programs besides Node.
const inTestkit = (name) => `<rootDir>/packages/testkit/src/${name}.ts`;
const inRoot = (pattern) => `<rootDir>/${pattern}`;
const slow = '\\.slow\\.test\\.ts$';
const real = '\\.real\\.test\\.ts$';

const project = (displayName, testMatch, ignored = []) => ({
  displayName,
  testMatch: testMatch.map(inRoot),
  testPathIgnorePatterns: ['/node_modules/', '/generated/', ...ignored],
  modulePathIgnorePatterns: ['<rootDir>/.almanac'],
  transform: {}, // Node strips the types
  testRunner: inTestkit('jest/test-runner'),
});

const onPostgres = {
  globalSetup: inTestkit('jest/global-setup'),
  globalTeardown: inTestkit('jest/global-teardown'),
};
const onSystem = {
  setupFilesAfterEnv: [inTestkit('jest/watch-secrets')],
  globalSetup: inTestkit('jest/system-setup'),
  globalTeardown: inTestkit('jest/system-teardown'),
};

const besideSource = [
  'packages/*/src/**/*.test.ts',
  'services/*/src/**/*.test.ts',
  'services/console/web/src/**/*.test.ts',
  'scripts/**/*.test.ts',
];
const ofServices = ['services/*/tests/**/*.test.ts', 'packages/*/tests/**/*.test.ts'];
const mainJob = 'tests/acceptance/main-job.test.ts';
const compose = 'tests/deploy/compose.test.ts';
const cluster = 'tests/deploy/kubernetes/cluster.test.ts';
// What only images can break: start, settings, confinement, missing files, real brokers.
const onImages = [
  'tests/deploy/images/**/*.test.ts',
  mainJob,
  'tests/acceptance/{plans,promotion}.test.ts',
  'tests/acceptance/operations/observability.test.ts',
  'tests/faults/killed-work.test.ts',
  'tests/deploy/{bus-amqp,object-store-s3}.real.test.ts',
];

/** @type {import('jest').Config} */
export default {
  workerGracefulExitTimeout: 10_000,
  // Loaded modules, and what they keep in memory, outlive a file; the larger the heap, the longer
  // each collection.
  workerIdleMemoryLimit: '700MB',
  testTimeout: 300_000, // for busy machines; Jest ignores it in a project
  projects: [
    project('unit', besideSource, [slow]),
    project('repository', ['tests/repository/**/*.test.ts']),
    { ...project('service', ofServices, [slow]), ...onPostgres },
    { ...project('slow', [...besideSource, ...ofServices].map(ofSlow)), ...onPostgres },
    { ...project('contract', ['tests/contract/**/*.test.ts']), ...onSystem },
    { ...project('main-job', [mainJob]), ...onSystem },
    { ...project('acceptance', ['tests/acceptance/**/*.test.ts'], [real]), ...onSystem },
    { ...project('security', ['tests/security/**/*.test.ts']), ...onSystem },
    { ...project('faults', ['tests/faults/**/*.test.ts'], [real]), ...onSystem },
    { ...project('console', ['tests/console/**/*.test.ts']), ...onSystem },
    { ...project('real', ['tests/**/*.real.test.ts']), ...onPostgres },
    { ...project('images', onImages), ...onSystem, globalSetup: inRoot('tests/deploy/images/setup.ts') },
    { ...project('skew', ['tests/deploy/skew/**/*.test.ts']), ...onPostgres },
    { ...project('compose', [compose]), ...onPostgres },
    { ...project('cluster', [cluster]), ...onPostgres },
  ],
};

function ofSlow(pattern) {
  return pattern.replace('*.test.ts', '*.slow.test.ts');
}
