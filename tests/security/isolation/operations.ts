// The operations of docs/openapi.json, and every place of an identifier in their requests and
// lists.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export type Schema = {
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  /** Distinguished by a property with a constant value. */
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  minItems?: number;
};

export type Parameter = { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: Schema };

export type Operation = {
  /** `PATCH /domains/{id}`, as the contract writes it. */
  name: string;
  method: string;
  path: string;
  needsUser: boolean;
  /** The scope that a token needs. */
  scope: string;
  parameters: Parameter[];
  body?: Schema;
  /** Sends a file instead of JSON. */
  takesFile: boolean;
  /** The schema of a list's items; absent when the operation is no list. */
  item?: Schema;
};

export type Place = {
  operation: Operation;
  where: 'path' | 'query' | 'header' | 'body' | 'filter';
  name: string;
  /**
   * In a body: the path of properties, `[]` for the elements of an array, `<update>` for the
   * alternative of that name.
   */
  steps: string[];
};

/** How a failed test names the place. */
export const placeName = ({ where, name, steps }: Place) => `${where} ${steps.length > 0 ? steps.join('.') : name}`;

type Documented = {
  parameters?: Parameter[];
  'x-user-context'?: boolean;
  /** The last way is the authorization code flow, which every operation takes. */
  security: { authorization_code: string[] }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: { 'application/json'?: { schema: Schema } } }>;
};

const file = resolve(import.meta.dirname, '../../../docs/openapi.json');

/** All operations of the document. */
export function readOperations(): Operation[] {
  const paths = readPaths();
  return Object.entries(paths)
    .filter(([address]) => address.startsWith('/api/v1/'))
    .flatMap(([address, operations]) =>
      Object.entries(operations).map(([verb, documented]) =>
        describe(address.replace('/api/v1', ''), verb, documented),
      ),
    );
}

type Paths = Record<string, Record<string, Documented>>;

// With the named schemas in the places that refer to them.
function readPaths(): Paths {
  const { paths, components } = JSON.parse(readFileSync(file, 'utf8')) as {
    paths: Paths;
    components: { schemas: Record<string, Schema> };
  };
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as { $ref?: string };
    const name = /^#\/components\/schemas\/(\w+)$/.exec($ref ?? '')?.[1];
    const members = { ...(name === undefined ? {} : components.schemas[name]), ...rest };
    return Object.fromEntries(Object.entries(members).map(([key, member]) => [key, resolve(member)]));
  };
  return resolve(paths) as Paths;
}

function describe(path: string, verb: string, documented: Documented): Operation {
  const method = verb.toUpperCase();
  const content = documented.requestBody?.content ?? {};
  const parameters = documented.parameters ?? [];
  const item = documented.responses['200']?.content?.['application/json']?.schema.properties?.data?.items;
  const isList = method === 'GET' && parameters.some(({ name }) => name === 'page');
  return {
    name: `${method} ${path}`,
    method,
    path,
    needsUser: documented['x-user-context'] === true,
    scope: documented.security.at(-1)?.authorization_code[0] as string,
    parameters,
    ...(content['application/json'] ? { body: content['application/json'].schema } : {}),
    takesFile: 'application/octet-stream' in content,
    ...(isList ? { item: item ?? {} } : {}),
  };
}

// Every variable part of a path is an identifier, as is any parameter or property with such a name;
// flags such as is_primary_key aren't.
const identifierName = /(^|[_-])(ids?|uuid|key|code)$/i;
const isIdentifier = (name: string, schema: Schema) => identifierName.test(name) && schema.type !== 'boolean';

/** Every place of an identifier in the operation, including fields that filter its list (`q`). */
export function findPlaces(operation: Operation): Place[] {
  const parameters = operation.parameters
    .filter(({ name, in: where, schema }) => where === 'path' || isIdentifier(name, schema))
    .map(({ name, in: where }): Place => ({ operation, where, name, steps: [] }));
  const inBody = operation.body ? placesInBody(operation, operation.body, []) : [];
  const filters = Object.entries(operation.item?.properties ?? {})
    .filter(([name, schema]) => isIdentifier(name, schema))
    .map(([name]): Place => ({ operation, where: 'filter', name, steps: [] }));
  return [...parameters, ...inBody, ...filters];
}

/** `<update>` for `{operation: 'update', …}`. */
export const alternativeName = ({ properties = {} }: Schema) =>
  `<${Object.values(properties).find((property) => property.const !== undefined)?.const}>`;

function placesInBody(operation: Operation, schema: Schema, steps: string[]): Place[] {
  const found: Place[] = [];
  for (const choice of schema.anyOf ?? []) found.push(...placesInBody(operation, choice, steps));
  for (const choice of schema.oneOf ?? [])
    found.push(...placesInBody(operation, choice, [...steps, alternativeName(choice)]));
  if (schema.items) found.push(...placesInBody(operation, schema.items, [...steps, '[]']));
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const here = [...steps, name];
    if (isIdentifier(name, inner)) found.push({ operation, where: 'body', name, steps: here });
    else found.push(...placesInBody(operation, inner, here));
  }
  return found;
}
