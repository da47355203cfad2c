// What `npm start` runs: plain JavaScript, so that it can turn Node's cache of compiled code on
// before any TypeScript is loaded. The first start fills the cache for all processes.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache/almanac');
if (!existsSync(cache))
  spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(root, 'packages/embedded/src/compile-code.ts')],
    {
      env: { ...process.env, NODE_COMPILE_CACHE: cache },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
enableCompileCache(cache);
const { start } = await import('./start.ts');
await start();
