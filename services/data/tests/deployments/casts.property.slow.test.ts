// Columns that become one type after another: a model in plain JavaScript says which values can be
// cast, which are shortened and which are blockers; the tables must agree, row by row and by value.
// Floating point numbers and JSON have examples of their own (changed-columns.test.ts). CAST_RUNS:
// how many for each kind of values (5).
import fc from 'fast-check';
import type { DataType } from '../../src/values/value-types.ts';
import { changed, givenColumn, plan } from '../columns.ts';
import { type DataNet, deploy, failureOf, givenData, type TableInput } from '../given.ts';
import { cast, type Type } from './cast-model.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const string = fc.record({ data_type: fc.constant('string' as const), length: fc.constantFrom(1, 2, 4, 10, 24, 40) });
const decimal = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 6 })).map(([length, scale]) => ({
  data_type: 'decimal' as const,
  length: Math.max(length, scale),
  scale,
}));
const plain = (...types: DataType[]) => fc.constantFrom(...types.map((data_type): Type => ({ data_type })));
const whole = plain('smallint', 'integer', 'bigint');
const anything = fc.oneof(
  string,
  decimal,
  plain('text', 'smallint', 'integer', 'bigint', 'decimal', 'boolean', 'date', 'datetime', 'time', 'uuid'),
);

// Values, and types that many of them can be cast to.
const kinds: [string, string[], fc.Arbitrary<Type>][] = [
  ['small numbers', ['7', '-007', '0', '32767', '40', '-5'], fc.oneof(whole, decimal, string)],
  ['large numbers', ['3000000000', '-9223372036854775808', '12', '0012'], fc.oneof(whole, decimal, plain('decimal'))],
  ['decimals', ['1.50', '-.5', '3.', '0.125', '-0.00', '99999.999999'], fc.oneof(decimal, plain('decimal'), string)],
  ['halves', ['0.125', '-2.5', '1.005', '1'], decimal],
  ['booleans', ['true', 'FALSE', 'True'], fc.oneof(plain('boolean'), string)],
  ['dates', ['2024-02-29', '0001-01-01', '9999-12-31', '1999-12-31'], plain('date', 'datetime', 'date')],
  [
    'instants',
    ['2024-02-29T00:00:00Z', '2024-02-29T10:00:00.5Z', '1999-12-31 23:59:59.999', '2024-02-29T23:00:00-05:00'],
    plain('datetime', 'date', 'text'),
  ],
  ['times', ['12:30', '23:59:59.500', '00:00:00'], fc.oneof(plain('time'), string)],
  ['ids', ['0B5E9D1C-1111-4222-8333-444455556666', '0b5e9d1c-0000-4222-8333-444455556666'], plain('uuid', 'text')],
  ['texts', ['', ' 7', 'a longer text, é😀', 'true', '2024-02-30', '1e3', 'null'], fc.oneof(string, plain('text'))],
];

/** Every value as PostgreSQL stores it, oldest row first. */
async function stored(table: number, { data_type }: Type): Promise<(string | null)[]> {
  const x = `c_${table * 1000 + 2}`;
  const text = data_type === 'datetime' ? `to_char(${x}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : `${x}::text`;
  const rows = await net.query(`select ${text} as x from b_1.t_${table} where not svc_is_deleted order by svc_sk`);
  return rows.map(({ x }) => x as string | null);
}

const count = (messages: { rows: number }[] = []) => messages.reduce((sum, { rows }) => sum + rows, 0);

it.each(kinds)(
  '%s: every row stays with every value that has a counterpart; when one has none, nothing changes',
  async (_name, texts, fitting) => {
    const values = fc.array(fc.option(fc.constantFrom(...texts), { freq: 6 }), { minLength: 1, maxLength: 6 });
    const wish = fc.oneof({ weight: 5, arbitrary: fitting }, { weight: 1, arbitrary: anything });
    await fc.assert(fc.asyncProperty(values, fc.array(wish, { minLength: 4, maxLength: 8 }), castOver), {
      numRuns: Number(process.env.CAST_RUNS ?? 5),
      endOnFailure: true,
    });
  },
  180_000,
);

/** Deploys one type after another on a table with these texts. */
async function castOver(given: (string | null)[], wishes: Type[]): Promise<void> {
  let type: Type = { data_type: 'text' };
  const table: TableInput = await givenColumn(net, type, given);
  let model: (string | null)[] = given;
  for (const [step, wish] of wishes.entries()) {
    const wanted = { ...changed(table, wish), version: step + 2 };
    const casts = model.map((value) => (value === null ? { to: null } : cast(value, type, wish)));
    const blocked = casts.filter(({ to }) => to === undefined).length;
    const diff = (await plan(net, [wanted])).diffs[0];
    const shortened = casts.filter(({ isShortened }) => isShortened).length;
    expect([count(diff?.blockers), count(diff?.warnings)]).toEqual([blocked, shortened]);
    if (blocked > 0) {
      expect((await failureOf(deploy(net, [wanted]))).kind).toBe('validation_failed');
    } else {
      await deploy(net, [wanted]);
      [type, model] = [wish, casts.map(({ to }) => to as string | null)];
    }
    expect(await stored(table.id, type)).toEqual(model);
  }
}
