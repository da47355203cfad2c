// One project for each kind of test; scripts/test.ts says which parts run when,
// docs/how-to/run-tests.md what each needs. A file's name says how it runs: `*.slow.test.ts` is
// left out of the everyday loop, `*.real.test.ts` needs programs beside Node.
const ofTestkit = (name) => `<rootDir>/packages/testkit/src/${name}.ts`;
const inRoot = (pattern) => `<rootDir>/${pattern}`;
const slow = '\\.slow\\.test\\.ts$';
const real = '\\.real\\.test\\.ts$';

const project = (displayName, testMatch, leftOut = []) => ({
  displayName,
  testMatch: testMatch.map(inRoot),
  testPathIgnorePatterns: ['/node_modules/', '/generated/', ...leftOut],
  modulePathIgnorePatterns: ['<rootDir>/.almanac'],
  transform: {}, // Node takes the types away
  testRunner: ofTestkit('jest/test-runner'),
});

const onPostgres = {
  globalSetup: ofTestkit('jest/global-setup'),
  globalTeardown: ofTestkit('jest/global-teardown'),
};
const onSystem = {
  setupFilesAfterEnv: [ofTestkit('jest/watch-secrets')],
  globalSetup: ofTestkit('jest/system-setup'),
  globalTeardown: ofTestkit('jest/system-teardown'),
};

const besideSource = ['packages/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'scripts/**/*.test.ts'];
const ofServices = ['services/*/tests/**/*.test.ts', 'packages/*/tests/**/*.test.ts'];
const mainJob = 'tests/acceptance/main-job.test.ts';
const compose = 'tests/deploy/compose.test.ts';
const cluster = 'tests/deploy/kubernetes/cluster.test.ts';
// What images can break: their start, settings and confinement, the files they lack, real brokers.
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
  workerIdleMemoryLimit: '1.5GB', // modules stay loaded from file to file, and so does what they keep
  testTimeout: 300_000, // a busy machine takes its time; Jest reads it here only, not in a project
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
