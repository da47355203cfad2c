// `npm run licences`: writes docs/third-party-packages.md.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { licencePage } from './supply-chain/licences.ts';
import { readLock } from './supply-chain/lockfile.ts';

writeFileSync(resolve(import.meta.dirname, '../../docs/third-party-packages.md'), licencePage(readLock()));
