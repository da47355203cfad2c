// Writes docs/openapi.json from the routes the services declare (npm run openapi); scripts/build/openapi/openapi.test.ts fails when
// it is stale.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { asText, makeDocument } from './openapi/declared-routes.ts';

const file = resolve(import.meta.dirname, '../../docs/openapi.json');
const document = makeDocument();
writeFileSync(file, asText(document));
const operations = Object.values(document.paths).reduce((sum, path) => sum + Object.keys(path).length, 0);
console.log(`Wrote docs/openapi.json: ${operations} operations.`);
