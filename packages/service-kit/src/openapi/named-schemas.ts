// JSON schemas of the document. A zod schema with an `id` in its `meta` becomes a component of that
// name, and everything that uses it refers to it, so that generated code has one type for it.
import { z } from 'zod';

export type Json = Record<string, unknown>;

/** The components of one fragment, by name. */
export type NamedSchemas = Record<string, Json>;

const refersTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/**
 * The JSON schema of a zod schema. Named parts are added to `named`, and referred to. Throws when a
 * name has two schemas.
 */
export function asSchema(schema: z.ZodType, io: 'input' | 'output', named: NamedSchemas): Json {
  // Within another schema, a named root is a reference as well.
  const { $defs = {}, properties } = z.toJSONSchema(z.object({ root: schema }), {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema }) => {
      dropWhatIsImplied(jsonSchema);
      showForm(zodSchema, jsonSchema, io, named);
    },
  }) as unknown as { $defs?: Record<string, Json>; properties: { root: Json } };
  for (const [name, definition] of Object.entries($defs)) add(named, name, inComponents(definition));
  return inComponents(properties.root);
}

/** Adds a schema under a name, and returns a reference to it. A reference stays what it is. */
export function asNamed(schema: Json, name: string, named: NamedSchemas): Json {
  if ('$ref' in schema) return schema;
  add(named, name, schema);
  return refersTo(name);
}

function add(named: NamedSchemas, name: string, schema: Json): void {
  const known = named[name];
  if (known && JSON.stringify(known) !== JSON.stringify(schema))
    throw new Error(`The OpenAPI document has two schemas of the name ${name}.`);
  named[name] = schema;
}

// zod gives every integer the bounds of JavaScript's exact ones, which are no rule of the API;
// formats a pattern that says the same; and objects a schema for the names of their members.
function dropWhatIsImplied(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.format !== undefined) delete schema.pattern;
  delete schema.propertyNames;
  if (schema.type !== undefined) delete schema.anyOf; // the other types are for convenience
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.type !== 'integer') return;
  schema.format ??= 'int64';
  delete schema.pattern; // of the text in a query
}

// A handler that checks a part itself, with problems of its own, declares it as `unknown` with the
// schema in `meta({ form })`.
function showForm(schema: z.core.$ZodType, shown: Json, io: 'input' | 'output', named: NamedSchemas): void {
  const form = z.globalRegistry.get(schema)?.form;
  if (!(form instanceof z.ZodType)) return;
  delete shown.form;
  for (const [key, value] of Object.entries(asSchema(form, io, named))) shown[key] ??= value;
}

const inComponents = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
