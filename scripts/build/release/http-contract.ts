// The promise that the API's document makes, as lines that can be compared: what callers may send, and what they get.
//   GET /api/v1/domains needs api:read
//   GET /api/v1/domains takes query per_page: integer
//   POST /api/v1/domains takes body domain.name: string, required
//   POST /api/v1/domains answers 201 id: integer

type Schema = {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
};
type Content = { content?: Record<string, { schema?: Schema }> };
type Operation = {
  'x-service': string;
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[];
  requestBody?: Content;
  responses: Record<string, Content>;
};
export type ApiDocument = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** One promise: what it is about, and in which values or types it holds. */
export type Promised = { place: string; types: string[]; isRequired: boolean };

/** All promises about the operations of one service. */
export function readPromises(document: ApiDocument, service: string): Promised[] {
  const found = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation['x-service'] === service)
      .flatMap(([method, operation]) =>
        ofOperation(document, operation).map(({ place, ...rest }) => ({
          place: `${method.toUpperCase()} ${path} ${place}`,
          ...rest,
        })),
      ),
  );
  return merged(found).toSorted((a, b) => (a.place < b.place ? -1 : 1));
}

function ofOperation(document: ApiDocument, operation: Operation): Promised[] {
  const { security = [], parameters = [], requestBody, responses } = operation;
  const scopes = security.flatMap((way) => Object.values(way).flat());
  const body = Object.values(requestBody?.content ?? {});
  return [
    { place: 'needs', types: scopes, isRequired: false },
    ...parameters.map(({ name, in: where, required = false, schema = {} }) => ({
      place: `takes ${where} ${name}`,
      types: typesOf(schema),
      isRequired: required,
    })),
    ...body.flatMap(({ schema = {} }) => walk(document, schema, 'takes body', true)),
    ...Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .flatMap(([status, { content = {} }]) => [
        { place: `answers ${status}`, types: [], isRequired: false },
        ...Object.values(content).flatMap(({ schema = {} }) => walk(document, schema, `answers ${status}`, true)),
      ]),
  ];
}

function walk(document: ApiDocument, given: Schema, place: string, isRequired: boolean): Promised[] {
  const schema = given.$ref ? (document.components.schemas[given.$ref.split('/').at(-1) as string] ?? {}) : given;
  const own = { place, types: typesOf(schema), isRequired };
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [
    own,
    ...alternatives.flatMap((each) => walk(document, each, place, isRequired)),
    ...(schema.items ? walk(document, schema.items, `${place}[]`, false) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      walk(
        document,
        property,
        `${place}${place.endsWith(']') ? '.' : ' '}${name}`,
        schema.required?.includes(name) ?? false,
      ),
    ),
  ];
}

function typesOf({ type, enum: values, const: value }: Schema): string[] {
  if (values) return values.map((each) => JSON.stringify(each));
  if (value !== undefined) return [JSON.stringify(value)];
  return type === undefined ? [] : [type].flat();
}

// The same place in several alternatives: every type of each, and required only where all of them want it.
function merged(promises: Promised[]): Promised[] {
  const byPlace = new Map<string, Promised>();
  for (const each of promises) {
    const known = byPlace.get(each.place);
    const types = [...new Set([...(known?.types ?? []), ...each.types])].toSorted();
    byPlace.set(each.place, { ...each, types, isRequired: each.isRequired && (known?.isRequired ?? true) });
  }
  return [...byPlace.values()];
}

/** As text, a line each. */
export const asLines = (promises: Promised[]): string =>
  promises
    .map(({ place, types, isRequired }) => `${place}: ${types.join(' ')}${isRequired ? ', required' : ''}\n`)
    .join('');

/** What `asLines` wrote. */
export const fromLines = (text: string): Promised[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, place = '', types = '', required] = /^(.+): (.*?)(, required)?$/.exec(line) ?? [];
      return { place, types: types.split(' ').filter(Boolean), isRequired: required !== undefined };
    });

/** What a caller of the old promises would stumble over, each a sentence. */
export function brokenPromises(before: Promised[], now: Promised[]): string[] {
  const there = new Map(now.map((each) => [each.place, each]));
  const known = new Set(before.map(({ place }) => place));
  const gone = before.filter(({ place }) => !there.has(place)).map(({ place }) => `${place}: is gone`);
  const changed = before.flatMap((old) => {
    const fresh = there.get(old.place);
    if (!fresh) return [];
    const isAnswer = old.place.includes(' answers ');
    // What callers send has to be taken as before; what they get must not be of another kind than they know.
    const lost = isAnswer ? [] : old.types.filter((type) => fresh.types.length > 0 && !fresh.types.includes(type));
    const added = isAnswer ? fresh.types.filter((type) => !type.startsWith('"') && !old.types.includes(type)) : [];
    return [
      ...lost.map((type) => `${old.place}: no longer ${type}`),
      ...(old.types.length > 0 ? added : []).map((type) => `${old.place}: may now be ${type}`),
      ...(!isAnswer && fresh.isRequired && !old.isRequired ? [`${old.place}: is required now`] : []),
      ...(isAnswer && old.isRequired && !fresh.isRequired ? [`${old.place}: may be missing now`] : []),
    ];
  });
  const demanded = now
    .filter(
      ({ place, isRequired }) =>
        isRequired && place.includes(' takes ') && !known.has(place) && known.has(parentOf(place)),
    )
    .map(({ place }) => `${place}: is new and required`);
  return [...gone, ...changed, ...demanded];
}

const parentOf = (place: string) =>
  place.includes(' takes body') ? place.replace(/[ .][^ .]+$/, '') : place.replace(/ takes .*$/, ' needs');
