import type { Pools } from '../postgres/pools.ts';
import type { DeployedTable } from '../tables/table.ts';
import { createBatcher, wasRolledBack } from './batching.ts';

const pools = {} as Pools;
const givenTable = (columns: unknown[] = []) => ({ structure: { columns } }) as unknown as DeployedTable;
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
};

/** Statements by their inputs, in the order in which they began, and what ends each. */
function given() {
  const begun: number[][] = [];
  const ends: { resolve(): void; reject(error: Error): void }[] = [];
  const ask = createBatcher<number, number>({
    execute: (_pools, _table, inputs) => {
      begun.push(inputs);
      return new Promise((resolve, reject) => {
        ends.push({ resolve: () => resolve(inputs.map((each) => each * 10)), reject });
      });
    },
  });
  const table = givenTable();
  return { begun, ends, ask: (input: number, of = table) => ask(pools, of, input) };
}

it('makes one statement of all inputs of a turn, and gives each its own output', async () => {
  const { begun, ends, ask } = given();
  const answers = Promise.all([1, 2, 1].map((input) => ask(input)));
  await turns(2);
  expect(begun).toEqual([[1, 2, 1]]);
  ends[0]?.resolve();
  expect(await answers).toEqual([10, 20, 10]);
});

it('begins a statement for later inputs while others are under way', async () => {
  const { begun, ends, ask } = given();
  const answers: Promise<number>[] = [];
  for (const input of [1, 2, 3, 4]) {
    answers.push(ask(input));
    await turns(2);
  }
  expect(begun).toEqual([[1], [2], [3], [4]]);
  for (const { resolve } of ends.toReversed()) resolve();
  expect(await Promise.all(answers)).toEqual([10, 20, 30, 40]);
});

it('keeps tables apart, and the revisions of one', async () => {
  const { begun, ends, ask } = given();
  const [one, other] = [givenTable(), givenTable()];
  const answers = Promise.all([ask(1, one), ask(2, other), ask(3, one)]);
  await turns(2);
  expect(begun).toEqual([[1, 3], [2]]);
  for (const { resolve } of ends) resolve();
  expect(await answers).toEqual([10, 20, 30]);
});

it('begins another batch when one is full, earlier where records are long', async () => {
  const { begun, ask } = given();
  const many = Array.from({ length: 120 }, (_, input) => input);
  for (const input of many) void ask(input);
  const long = givenTable([{ name: 'json', data_type: 'json' }]);
  for (const input of [1, 2]) void ask(input, long);
  await turns(2);
  expect(begun).toEqual([many.slice(0, 50), many.slice(50, 100), many.slice(100), [1], [2]]);
});

it('fails the inputs of a statement that fails, and no others', async () => {
  const { ends, ask } = given();
  const failing = Promise.allSettled([ask(1), ask(2)]);
  await turns(2);
  const next = ask(3);
  await turns(2);
  ends[0]?.reject(new Error('no'));
  ends[1]?.resolve();
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await next).toBe(30);
});

it('fails one input alone when its own statement fails', async () => {
  const ask = createBatcher<number, number>({
    execute: async (_pools, _table, inputs) =>
      inputs.map(async (input) => {
        if (input === 2) throw new Error('no');
        return input;
      }),
  });
  const table = givenTable();
  const results = await Promise.allSettled([1, 2, 3].map((input) => ask(pools, table, input)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

it.each([
  ['22003', true],
  ['23505', true],
  ['40001', true],
  ['54000', true],
  ['55P03', true],
  ['57P01', false],
  ['08006', false],
])('takes SQLSTATE %s for a statement that was rolled back: %s', (code, expected) => {
  expect(wasRolledBack(Object.assign(new Error('refused'), { code }))).toBe(expected);
});
