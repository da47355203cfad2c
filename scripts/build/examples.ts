// Records the examples of the OpenAPI document from calls of a new system with the demo data
// (npm run examples): after it, npm run openapi. tests/contract makes the same calls and compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createApi } from '@almanac/api-client/api';
import { type Application, type Person, signInPerson } from '@almanac/api-client/sign-in';
import type { DocumentedPaths } from '@almanac/testkit/system/examples/documented-operation';
import { recordExamples } from '@almanac/testkit/system/examples/recorded-examples';
import { startSystem, systemHomeName } from '@almanac/testkit/system/system';
import { makeDocument } from './openapi/declared-routes.ts';

const file = resolve(import.meta.dirname, '../../services/gateway/src/documents/examples.json');

const system = await startSystem({ demo: true });
process.env.ALMANAC_BASE_URL = system.baseUrl;
process.env[systemHomeName] = system.home;
try {
  const { application, admin } = JSON.parse(readFileSync(join(system.home, 'credentials.json'), 'utf8')) as {
    application: Application;
    admin: Person;
  };
  const { access_token } = await signInPerson(system.baseUrl, application, admin);
  const api = createApi(system.baseUrl, access_token);
  // Of the declarations alone: recorded examples may be those of an earlier declaration.
  const paths = makeDocument({}).paths as unknown as DocumentedPaths;
  const { examples, failures } = await recordExamples(paths, { api, application });
  if (failures.length > 0) {
    console.error(failures.join('\n'));
    process.exitCode = 1;
  } else {
    const sorted = Object.fromEntries(Object.entries(examples).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`);
    console.log(`Recorded ${Object.keys(examples).length} examples; now run npm run openapi.`);
  }
} finally {
  await system.stop();
}
