import type { DeployedTable } from '../catalogue/structure.ts';
import { together } from './together.ts';

const ctx = {} as Parameters<ReturnType<typeof together>>[0];
const table = { structure: { columns: [] } } as unknown as DeployedTable;
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
};

/** Statements as they were begun, and what ends each. */
function given(atOnce: number, patienceMs?: number) {
  const begun: number[][] = [];
  const ends: { resolve(): void; reject(error: Error): void }[] = [];
  const ask = together<number, number>(
    atOnce,
    (_ctx, _table, asked) => {
      begun.push(asked);
      return new Promise((resolve, reject) => {
        ends.push({ resolve: () => resolve(asked.map((each) => each * 10)), reject });
      });
    },
    patienceMs,
  );
  return { begun, ends, ask: (one: number) => ask(ctx, table, one) };
}

it('begins in the next turn when nothing is under way, with all of one turn', async () => {
  const { begun, ends, ask } = given(1);
  const answers = Promise.all([1, 2, 1].map(ask));
  await turns(2);
  expect(begun).toEqual([[1, 2, 1]]);
  ends[0]?.resolve();
  expect(await answers).toEqual([10, 20, 10]);
});

it('gathers what comes while enough is under way, and begins it when that ends, well or not', async () => {
  const { begun, ends, ask } = given(2, 600_000);
  const early = [1, 2].map(async (one) => {
    await turns(one * 2);
    return ask(one);
  });
  const settled = Promise.allSettled(early);
  await turns(8);
  expect(begun).toEqual([[1], [2]]);
  const late = [3, 4].map(ask);
  await turns(2);
  late.push(ask(5));
  ends[1]?.reject(new Error('no'));
  await turns(4);
  expect(begun).toEqual([[1], [2], [3, 4, 5]]);
  ends[0]?.resolve();
  ends[2]?.resolve();
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(await Promise.all(late)).toEqual([30, 40, 50]);
});

it('waits for a statement that takes long only for a moment', async () => {
  const { begun, ends, ask } = given(1);
  void ask(1);
  await turns(2);
  const second = ask(2);
  await turns(2);
  expect(begun).toEqual([[1]]);
  while (begun.length === 1) await new Promise((resolve) => setTimeout(resolve, 1));
  ends[1]?.resolve();
  expect(await second).toBe(20);
});
