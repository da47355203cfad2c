// Writes docs/permissions.md from the rights table (npm run permissions); scripts/build/permissions/permissions.test.ts fails when it is
// stale.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeDocument } from './openapi/declared-routes.ts';
import { asPage } from './permissions/page.ts';

writeFileSync(resolve(import.meta.dirname, '../../docs/permissions.md'), asPage(makeDocument()));
console.log('Wrote docs/permissions.md.');
