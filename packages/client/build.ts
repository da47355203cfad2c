// Builds dist/ (npm run generate): types and the facts needed at run time from docs/openapi.json,
// then JavaScript and declarations.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';

type Operation = { parameters?: { name: string; in: string }[] };
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: { Problem: { properties: { code: { 'x-extensible-enum': string[] } } } } };
};

const folder = import.meta.dirname;
const document = JSON.parse(readFileSync(join(folder, '../../docs/openapi.json'), 'utf8'), openObjects) as Document;

// The address of a client ends with /api/v1, so that paths read as in the documentation. It calls
// nothing else by path: tokens.ts asks for tokens.
const prefix = '/api/v1';
document.paths = Object.fromEntries(
  Object.entries(document.paths)
    .filter(([path]) => path.startsWith(`${prefix}/`))
    .map(([path, operations]) => [path.slice(prefix.length), operations]),
);
const types = astToString(await openapiTS(document as unknown as OpenAPI3, { defaultNonNullable: false }));
const pathsTaking = (header: string, methods?: string[]) =>
  Object.keys(document.paths).filter((path) =>
    Object.entries(document.paths[path] ?? {}).some(
      ([method, { parameters }]) =>
        (methods?.includes(method) ?? true) && parameters?.some(({ name }) => name === header),
    ),
  );
const setOf = (name: string, paths: string[]) =>
  `export const ${name}: ReadonlySet<string> = new Set(${JSON.stringify(paths, undefined, 2)});\n`;

const generated = join(folder, 'src/generated');
mkdirSync(generated, { recursive: true });
writeFileSync(join(generated, 'schema.ts'), `// Made by npm run generate.\n${types}`);
writeFileSync(
  join(generated, 'keyed-paths.ts'),
  `// Made by npm run generate: where POST takes an Idempotency-Key.\n${setOf('keyedPaths', pathsTaking('Idempotency-Key', ['post']))}`,
);
writeFileSync(
  join(generated, 'exact-paths.ts'),
  `// Made by npm run generate: where calls take Exact-Numbers.\n${setOf('exactPaths', pathsTaking('Exact-Numbers'))}`,
);

const codes = document.components.schemas.Problem.properties.code['x-extensible-enum'];
writeFileSync(
  join(generated, 'problem-codes.ts'),
  `// Made by npm run generate: the codes of problems.\nexport type ProblemCode =\n${codes.map((code) => `  | '${code}'`).join('\n')};\n`,
);

// An object without declared members may have any; the generator would give it none.
function openObjects(_name: string, value: unknown): unknown {
  const schema = value as { type?: unknown; properties?: unknown; additionalProperties?: unknown } | null;
  if (schema?.type !== 'object' || schema.properties || schema.additionalProperties !== undefined) return value;
  return { ...schema, additionalProperties: {} };
}
