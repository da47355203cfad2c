// One project for each layer of tests; `npm test` chooses those that need nothing but Node (scripts/test.ts), .ci/run the rest.
const ofTestkit = (name) => `<rootDir>/packages/testkit/src/${name}.ts`;

const project = (displayName, testMatch, setup, setupFilesAfterEnv = []) => ({
  displayName,
  testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}`),
  transform: {},
  testRunner: ofTestkit('jest-test-runner'),
  testPathIgnorePatterns: ['/node_modules/', '/generated/'],
  modulePathIgnorePatterns: ['<rootDir>/.almanac'],
  setupFilesAfterEnv,
  globalSetup: ofTestkit(`${setup}-setup`),
  globalTeardown: ofTestkit(`${setup}-teardown`),
});

const watched = ['<rootDir>/packages/testkit/src/jest-watch-secrets.ts'];
const projects = [
  project('unit', ['packages/**/*.test.ts', 'services/*/src/**/*.test.ts', 'scripts/**/*.test.ts'], 'jest-global'),
  project('service', ['services/*/tests/**/*.test.ts'], 'jest-global'),
  project('contract', ['tests/contract/**/*.test.ts'], 'jest-system', watched),
  project('acceptance', ['tests/acceptance/**/*.test.ts'], 'jest-system', watched),
];

// Needs the history of git, which has the code of the last release; see scripts/test.ts.
const skew = project('skew', ['tests/skew/**/*.test.ts'], 'jest-global');
// These need Chromium, spreadsheet programs, root, and real servers (RabbitMQ, Ceph RGW); see docs/how-to/run-tests.md.
const real = project('real', ['tests/real/**/!(compose|cluster).test.ts'], 'jest-global');
// Takes five minutes and images of other servers, so it is asked for apart: docs/how-to/run-tests.md.
const compose = project('compose', ['tests/real/compose.test.ts'], 'jest-global');
// The end-to-end tests on the images in containers, and what the bus and the object store do on these servers; but for those that start systems of their own, which use none of it, or are about
// requests, rights and tokens alone.
const onNoImage =
  /\/(start|readme|tracing|rolling-restart|certificates|hang-ups|hostile|bad-input|damaged-files|costs|private-branches|rights|tokens\.property)\.test\.ts$/;
const images = {
  ...project(
    'images',
    ['tests/images/**/*.test.ts', 'tests/acceptance/**/*.test.ts', 'tests/real/{bus-amqp,object-store-s3}.test.ts'],
    'jest-system',
    watched,
  ),
  globalSetup: '<rootDir>/tests/images/setup.ts',
  testPathIgnorePatterns: ['/node_modules/', onNoImage.source],
};
// Needs a cluster, which takes long to make; asked for apart, too.
const cluster = project('cluster', ['tests/real/kubernetes/cluster.test.ts'], 'jest-global');

/** @type {import('jest').Config} */
export default {
  testTimeout: 300_000, // a busy machine takes its time; Jest reads it here only, not in a project
  projects: [...projects, skew, real, images, compose, cluster],
};
