// Bodies of an operation that are valid except in one place, which has one of the costly values.
import type { Operation, Schema } from '../isolation/operations.ts';
import { makeRequest } from '../isolation/requests.ts';
import type { Owned } from '../isolation/twins.ts';
import { type Kind, type Value, values, valuesLike } from './values.ts';

type Described = Schema & { additionalProperties?: boolean | Described; properties?: Record<string, Described> };

/** `'0'` stands for the first item of a list. */
type Place = { steps: string[]; kinds: Kind[]; root: Described };

export type Variant = {
  operation: Operation;
  name: string;
  path: string;
  /** The whole body, of about this many bytes. */
  make(bytes: number): string;
};

const unknown = 'unknown_property';
const mark = 'the value comes here';
const allKinds: Kind[] = ['text', 'number', 'list', 'object'];

/** All variants, in the order of the document; a record has the columns. */
export function variantsOf(operation: Operation, owned: Owned, columns: { name: string }[]): Variant[] {
  const names = columns.map(({ name }) => name);
  return placesOf(operation.body as Described, names).flatMap(({ steps, kinds, root }) => {
    const request = makeRequest({ ...operation, body: root }, [], owned);
    const { path } = request;
    const [item] = [valueAt(request.body, steps)].flat();
    const fitting = values.filter(({ kind }) => kinds.includes(kind));
    const like = kinds.includes('list') && item !== undefined ? valuesLike(item) : [];
    const name = steps.join('.');
    return [...fitting, ...like].map((value: Value) => ({
      operation,
      name: `${name}: ${value.name}`,
      path,
      make: (bytes: number) => {
        const [before, after] = JSON.stringify(marked(request.body, steps)).split(`"${mark}"`) as [string, string];
        return `${before}${value.make(bytes - before.length - after.length - 100)}${after}`;
      },
    }));
  });
}

/** Every place of the body, and a property that no schema has. */
function placesOf(root: Described, columns: string[]): Place[] {
  const found: Place[] = [{ steps: [unknown], kinds: allKinds, root }];
  const visit = (schema: Described, steps: string[], rebuild: (changed: Described) => Described) => {
    if (steps.length > 0) found.push({ steps, kinds: kindsOf(schema), root: rebuild(schema) });
    const choices = schema.anyOf as Described[] | undefined;
    if (choices) {
      const [first, ...rest] = choices as [Described, ...Described[]];
      visitInner(first, steps, (changed) => rebuild({ ...schema, anyOf: [changed, ...rest] }));
    } else visitInner(schema, steps, rebuild);
  };
  const visitInner = (schema: Described, steps: string[], rebuild: (changed: Described) => Described) => {
    for (const choice of (schema.oneOf ?? []) as Described[])
      visitInner(choice, steps, (changed) => rebuild({ ...schema, oneOf: [changed] }));
    if (schema.items)
      visit(schema.items as Described, [...steps, '0'], (items) => rebuild({ ...schema, items } as Described));
    const { additionalProperties: open, properties = {}, required = [] } = schema;
    const isOpen = Object.keys(properties).length === 0 && open !== undefined && open !== false;
    const ofColumn = typeof open === 'object' ? open : {};
    // Where all columns take the same values, the first stands for all.
    const named = Object.keys(ofColumn).length > 0 ? columns.slice(0, 1) : columns;
    const inner = isOpen ? Object.fromEntries(named.map((name) => [name, ofColumn])) : properties;
    for (const [name, property] of Object.entries(inner))
      visit(property, [...steps, name], (changed) =>
        rebuild({ ...schema, properties: { ...inner, [name]: changed }, required: [...required, name] }),
      );
  };
  visit(root, [], (changed) => changed);
  return found;
}

function kindsOf({ type, anyOf, oneOf, items, properties, additionalProperties }: Described): Kind[] {
  if (anyOf) return [...new Set(anyOf.flatMap((choice) => kindsOf(choice as Described)))];
  if (oneOf || properties || additionalProperties) return ['object'];
  if (items) return ['list'];
  const types = [type ?? []].flat();
  if (types.length === 0) return allKinds;
  return types.flatMap((each): Kind[] => {
    if (each === 'string') return ['text'];
    return each === 'integer' || each === 'number' ? ['number'] : [];
  });
}

function valueAt(body: unknown, steps: string[]): unknown {
  return steps.reduce<unknown>((inner, step) => (inner as Record<string, unknown> | undefined)?.[step], body);
}

function marked(body: unknown, steps: string[]): unknown {
  const copy = structuredClone(body) as Record<string, unknown>;
  const last = steps.at(-1) as string;
  const home = valueAt(copy, steps.slice(0, -1));
  if (typeof home !== 'object' || home === null) throw new Error(`${steps.join('.')} is not in the made body.`);
  (home as Record<string, unknown>)[last] = mark;
  return copy;
}
