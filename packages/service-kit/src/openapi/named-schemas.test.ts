import { z } from 'zod';
import { asNamed, asSchema, type NamedSchemas } from './named-schemas.ts';

const thing = z.object({ id: z.int(), name: z.string() }).meta({ id: 'Thing' });

it('refers to a named schema wherever it is used', () => {
  const named: NamedSchemas = {};
  expect(asSchema(z.object({ thing, others: z.array(thing) }), 'output', named)).toMatchObject({
    properties: {
      thing: { $ref: '#/components/schemas/Thing' },
      others: { items: { $ref: '#/components/schemas/Thing' } },
    },
  });
  expect(asSchema(thing, 'output', named)).toEqual({ $ref: '#/components/schemas/Thing' });
  expect(Object.keys(named)).toEqual(['Thing']);
});

it('has the bounds of rules alone', () => {
  const bounds = { any: z.int(), small: z.int().min(1).max(9), positive: z.int().positive() };
  expect(asSchema(z.object(bounds), 'output', {}).properties).toEqual({
    any: { type: 'integer', format: 'int64' },
    small: { type: 'integer', format: 'int64', minimum: 1, maximum: 9 },
    positive: { type: 'integer', format: 'int64', exclusiveMinimum: 0 },
  });
});

it('has the type that the declaration names, without other forms that are taken', () => {
  const names = z.union([z.string(), z.array(z.string())]).meta({ type: 'array', items: { type: 'string' } });
  expect(asSchema(names, 'input', {})).toEqual({ type: 'array', items: { type: 'string' } });
});

it('shows the form of what a handler checks itself', () => {
  const named: NamedSchemas = {};
  const unchecked = z.unknown().meta({ description: 'Things.', form: z.array(thing) });
  const shown = asSchema(z.object({ unchecked: unchecked.optional() }), 'input', named);
  expect(shown).toMatchObject({
    properties: {
      unchecked: { type: 'array', description: 'Things.', items: { $ref: '#/components/schemas/Thing' } },
    },
  });
  expect(JSON.stringify(shown)).not.toContain('"form"');
});

it('refuses two schemas of one name', () => {
  const named: NamedSchemas = {};
  asNamed({ type: 'string' }, 'Thing', named);
  expect(() => asSchema(thing, 'output', named)).toThrow('two schemas of the name Thing');
});

it('keeps the name of what has one', () => {
  const named: NamedSchemas = {};
  expect(asNamed(asSchema(thing, 'output', named), 'ShowThingResult', named)).toEqual({
    $ref: '#/components/schemas/Thing',
  });
  expect(asNamed(asSchema(z.object({}), 'output', named), 'Empty', named)).toEqual({
    $ref: '#/components/schemas/Empty',
  });
  expect(Object.keys(named)).toEqual(['Thing', 'Empty']);
});
