// tests/real need real servers (RabbitMQ, Ceph RGW), whose addresses come with ALMANAC_TEST_REAL=1; see .ci/run.
const withoutServers = process.env.ALMANAC_TEST_REAL === '1' ? [] : ['<rootDir>/tests/real/'];

/** @type {import('jest').Config} */
export default {
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  testMatch: ['<rootDir>/{packages,services,scripts,tests}/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/generated/', ...withoutServers],
  modulePathIgnorePatterns: ['<rootDir>/.almanac'],
  globalSetup: '<rootDir>/packages/testkit/src/jest-global-setup.ts',
  globalTeardown: '<rootDir>/packages/testkit/src/jest-global-teardown.ts',
  testTimeout: 60_000,
};
