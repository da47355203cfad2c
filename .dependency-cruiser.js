// Which way imports may point: protos <- service-kit <- services <- testkit <- tests. Read by
// dependency-cruiser (npm run check).
const anyService = '^services/([^/]+)/';

// The folders of service-kit in layers: a folder imports only from layers above its own.
const kitLayers = [
  ['config', 'openapi', 'text'],
  ['messaging/bus', 'postgres'],
  ['caller', 'messaging/amqp', 'messaging/postgres', 'observability'],
  ['observability/tracing', 'tls'],
  ['http', 'messaging'],
  ['api', 'rpc'],
  ['process', 'rights'],
];
const kitFiles = (folders) => `^packages/service-kit/src/(${folders.join('|')})/[^/]+$`;

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Files that import each other can only be understood together; move what both need into a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...kitLayers.map((folders, layer) => ({
      name: `service-kit-layer-${layer + 1}`,
      comment: 'The folders of service-kit are layers; types count too.',
      severity: 'error',
      from: { path: kitFiles(folders), pathNot: '[.](test|suite)[.]ts$' },
      to: { path: kitFiles(kitLayers.slice(layer).flat()), pathNot: '^packages/service-kit/src/$1/[^/]+$' },
    })),
    {
      name: 'no-service-imports-a-service',
      comment: 'Services share protos/ and service-kit, never source; ask over gRPC or listen to an event.',
      severity: 'error',
      from: { path: anyService },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'protos-import-nothing-of-ours',
      severity: 'error',
      from: { path: '^protos/' },
      to: { path: '^(packages|services|scripts|tests)/' },
    },
    {
      name: 'streams-end-in-the-rpc-layer',
      comment: 'gRPC alone does not mark the end of a stream; service-kit/rpc/streams.ts does (ADR 22).',
      severity: 'error',
      from: { pathNot: '^packages/service-kit/src/(rpc/|observability/tracing/calls[.]ts)' },
      to: { path: 'node_modules/@grpc/grpc-js' },
    },
    {
      name: 'service-kit-knows-no-service',
      severity: 'error',
      from: { path: '^packages/service-kit/', pathNot: '[.](test|suite)[.]ts$' },
      to: { path: '^(packages/(?!service-kit/)|services|scripts|tests)/' },
    },
    {
      name: 'service-source-needs-no-test-tools',
      severity: 'error',
      from: { path: '^services/[^/]+/src/', pathNot: '[.](test|suite)[.]ts$' },
      to: { path: '^(packages/(testkit|api-client)|scripts|tests)/' },
    },
    {
      name: 'api-client-is-an-outsider',
      comment: 'It shows what an outsider can do with the public API, so it imports none of our code.',
      severity: 'error',
      from: { path: '^packages/api-client/' },
      to: { path: '^(packages/(?!api-client/)|protos|services|scripts|tests)/' },
    },
    {
      name: 'client-is-published-alone',
      severity: 'error',
      from: { path: '^packages/client/' },
      to: { path: '^(packages/(?!client/)|protos|services|scripts|tests)/' },
    },
    {
      name: 'testkit-starts-services-as-processes',
      severity: 'error',
      from: { path: '^packages/testkit/' },
      to: { path: '^(services|tests)/' },
    },
    {
      name: 'end-to-end-tests-use-the-public-api',
      severity: 'error',
      from: { path: '^tests/(acceptance|contract|security|faults)/', pathNot: '[.]real[.]test[.]ts$' },
      to: { path: '^(services|scripts|packages/(admin-cli|embedded))/' },
    },
    {
      name: 'embedded-knows-no-service',
      comment: 'It starts services as processes; their settings are environment variables.',
      severity: 'error',
      from: { path: '^packages/embedded/' },
      to: { path: '^(packages/(?!embedded(-postgres)?/|service-kit/)|services|scripts|tests)/' },
    },
    {
      name: 'pure-tests-do-no-io',
      comment: 'They start nothing; tests that do are *.slow.test.ts or in tests/ of their package.',
      severity: 'error',
      from: { path: '^(packages|services/[^/]+|scripts)/.*[.]test[.]ts$', pathNot: '/tests/|[.]slow[.]test[.]ts$' },
      to: {
        path: [
          '^packages/testkit/src/(?!(calls/(call|keys)|eventually|files/(unreadable-files|workbooks)|json-revivers|random|rights/(operations|rules)|secrets/secret-finder)[.]ts$)',
          '^(node:)?(child_process|cluster|dgram|http2?|https|net|tls|worker_threads)$',
          '^node_modules/(pg|undici)/',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'only-tests-import-tests',
      severity: 'error',
      from: { pathNot: '^tests/' },
      to: { path: '^tests/' },
    },
    {
      name: 'packages-and-services-import-no-script',
      severity: 'error',
      from: { path: '^(packages|services)/' },
      to: { path: '^scripts/' },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/generated/|^(packages/client|services/console)/dist/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
    },
  },
};
