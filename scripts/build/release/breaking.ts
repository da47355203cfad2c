// Finds breaking changes since the last release of each service: for other services (protos), for
// callers of the API, and for the released code on a schema that is already migrated.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiDocument, brokenPromises, fromLines, readPromises } from './http-contract.ts';
import { dangersOf } from './migrations.ts';
import { buf, readRecord, recordOf, root, type ServiceName } from './records.ts';

/** The breaking changes of a service, each a sentence. */
export function findBreaks(service: ServiceName): string[] {
  return [...brokenProtos(service), ...brokenHttp(service), ...brokenSchema(service)].map(
    (each) => `${service}: ${each}`,
  );
}

type Finding = { type: string; message: string; path: string; start_line?: number };

function brokenProtos(service: ServiceName): string[] {
  if (readRecord(service, 'protos.json') === undefined) return [];
  const accepted = readAccepted(service);
  return findProtoBreaks(join(root, 'protos'), `almanac/${service}`, recordOf(service, 'protos.json')).filter(
    (each) => !accepted.has(each.replace(/^[^:]+:\d+: /, '')),
  );
}

/**
 * The breaking changes of a proto module since a recorded image, each a sentence with its place.
 */
export function findProtoBreaks(module: string, folder: string, before: string): string[] {
  const words = ['breaking', '--path', folder, '--against', before, '--error-format', 'json'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [buf, ...words], { cwd: module, encoding: 'utf8' });
  if (status === 0) return [];
  const findings = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Finding);
  if (findings.length === 0) return [`buf ended with ${status}: ${stderr}`];
  const isDeprecated = deprecatedIn(JSON.parse(readFileSync(before, 'utf8')) as Image);
  return findings
    .filter((finding) => !isDeprecated(finding))
    .map(({ message, path, start_line = 1 }) => `${path}:${start_line}: ${message}`);
}

type Message = {
  name: string;
  field?: { name: string; options?: { deprecated?: boolean } }[];
  nestedType?: Message[];
};
type Image = {
  file: { messageType?: Message[]; service?: { method?: { name: string; options?: { deprecated?: boolean } }[] }[] }[];
};

// A field that the last release called deprecated may go: no code reads it since, and its number
// stays reserved (another rule).
function deprecatedIn({ file }: Image): (finding: Finding) => boolean {
  const said = new Set<string>();
  const take = (prefix: string, { name, field = [], nestedType = [] }: Message) => {
    for (const each of field) if (each.options?.deprecated) said.add(`field ${each.name} ${prefix}${name}`);
    for (const each of nestedType) take(`${prefix}${name}.`, each);
  };
  for (const { messageType = [], service = [] } of file) {
    for (const message of messageType) take('', message);
    for (const { method = [] } of service)
      for (const { name, options } of method) if (options?.deprecated) said.add(`rpc ${name}`);
  }
  return ({ type, message }) => {
    const [, field, owner] = /with name "(\w+)" on message "([\w.]+)" was deleted/.exec(message) ?? [];
    if (type === 'FIELD_NO_DELETE') return said.has(`field ${field} ${owner}`);
    return type === 'RPC_NO_DELETE' && said.has(`rpc ${/RPC "(\w+)"/.exec(message)?.[1]}`);
  };
}

function brokenHttp(service: ServiceName): string[] {
  const before = readRecord(service, 'http.txt');
  if (before === undefined) return [];
  const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8')) as ApiDocument;
  const accepted = readAccepted(service);
  return brokenPromises(fromLines(before), readPromises(document, service)).filter((each) => !accepted.has(each));
}

function brokenSchema(service: ServiceName): string[] {
  const before = readRecord(service, 'migrations.txt');
  if (before === undefined) return [];
  const known = new Set(before.split('\n'));
  const accepted = readAccepted(service);
  const folder = join(root, 'services', service, 'prisma/migrations');
  return globSync('*/migration.sql', { cwd: folder })
    .map((path) => path.split(/[\\/]/)[0] as string)
    .filter((name) => !known.has(name) && !accepted.has(name))
    .toSorted()
    .flatMap((name) =>
      dangersOf(readFileSync(join(folder, name, 'migration.sql'), 'utf8')).map((danger) => `${name} ${danger}`),
    );
}

// releases/<service>/accepted.txt: harmless findings, each after a comment with the reason. The
// next release deletes the file.
function readAccepted(service: ServiceName): Set<string> {
  const path = recordOf(service, 'accepted.txt');
  if (!existsSync(path)) return new Set();
  return new Set(
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#')),
  );
}
