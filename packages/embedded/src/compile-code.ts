// A program that imports what an embedded system runs, so that Node's cache has it compiled, and
// ends. A process that finds its code there neither strips types itself nor keeps, for as long as
// it runs, the 20 MB of memory which that takes.
import { join } from 'node:path';
import { root } from './home.ts';
import { serviceNames } from './services.ts';

const files = [
  ...serviceNames.map((name) => `services/${name}/src/main.ts`),
  'packages/service-kit/src/messaging/postgres/bus.ts',
  'packages/embedded/src/postgres-guard.ts',
  'scripts/dev/start.ts',
];
for (const file of files) await import(join(root, file));
process.exit(0);
