// The sweep of expired objects, when the store can't remove some of them.
import { Readable } from 'node:stream';
import { newObjectKey, type ObjectStore } from '../../src/files/object-store/object-store.ts';
import { recordObject, sweepObjects } from '../../src/files/stored-objects.ts';
import { givenJobs, type Jobs } from '../given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs();
});
afterAll(() => jobs.close());

const batch = 2;

/** Keys of expired objects of two accounts, in the order of the sweep. */
async function givenExpired(count: number): Promise<string[]> {
  const { prisma, store } = jobs.context;
  for (let made = 0; made < count; made += 1) {
    const accountId = 1 + (made % 2);
    const key = newObjectKey(accountId, 'imports', made);
    // Several expire at the same time.
    await recordObject(prisma, accountId, key, new Date(Math.floor(made / 3)));
    await store.put(key, Readable.from([Buffer.from('x')]), { maxBytes: 1 });
  }
  return recordedKeys();
}

const recordedKeys = async () => {
  const order = [{ expires_at: 'asc' as const }, { key: 'asc' as const }];
  return (await jobs.context.prisma.stored_object.findMany({ orderBy: order })).map(({ key }) => key);
};

/** Sweeps while the store refuses to remove these; answers how many, and which it tried. */
async function sweepRefusing(refused: string[]): Promise<{ removed: number; tried: string[] }> {
  const tried: string[] = [];
  const remove = async (key: string) => {
    tried.push(key);
    if (refused.includes(key)) throw new Error('the store refuses');
    await jobs.context.store.remove(key);
  };
  const removed = await sweepObjects({ ...jobs.context, store: { remove } as ObjectStore }, batch);
  return { removed, tried };
}

it('removes all other objects, and tries those that could not be removed once in each sweep', async () => {
  const keys = await givenExpired(8);
  const refused = [keys[0], keys[3], keys[4]] as string[];
  expect(await sweepRefusing(refused)).toEqual({ removed: 5, tried: keys });
  expect(await recordedKeys()).toEqual(refused);
  const left = await Promise.all(keys.map(async (key) => (await jobs.context.store.stat(key)) !== undefined));
  expect(keys.filter((_, index) => left[index])).toEqual(refused);
  expect(await sweepRefusing([])).toEqual({ removed: 3, tried: refused });
});

it('ends early when the store removes nothing', async () => {
  const keys = await givenExpired(5);
  expect(await sweepRefusing(keys)).toEqual({ removed: 0, tried: keys.slice(0, batch) });
  expect(await sweepRefusing([])).toEqual({ removed: 5, tried: keys });
});
