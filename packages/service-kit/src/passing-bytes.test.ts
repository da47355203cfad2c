import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bytesPassed } from './passing-bytes.ts';

const chunkBytes = 512 * 1024;

async function wholeCollectionsWhile(work: () => Promise<void>): Promise<number> {
  let count = 0;
  const isWhole = ({ detail }: PerformanceEntry & { detail?: unknown }) =>
    (detail as { kind: number }).kind === constants.NODE_PERFORMANCE_GC_MAJOR;
  const take = (entries: PerformanceEntry[]) => {
    count += entries.filter(isWhole).length;
  };
  const observer = new PerformanceObserver((list) => take(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  await work();
  await nextTurn();
  take(observer.takeRecords());
  observer.disconnect();
  return count;
}

async function pass(megabytes: number, tell: (bytes: number) => void): Promise<void> {
  for (let left = megabytes * 1024 * 1024; left > 0; left -= chunkBytes) {
    Buffer.allocUnsafeSlow(chunkBytes).fill(1);
    tell(chunkBytes);
    await nextTurn();
  }
}

describe('bytes that pass by', () => {
  it('are freed without the whole heap being searched for them', async () => {
    await pass(32, bytesPassed);
    const told = await wholeCollectionsWhile(() => pass(1_024, bytesPassed));
    const untold = await wholeCollectionsWhile(() => pass(1_024, () => {}));
    expect({ told: told <= 2, untold: untold >= 5 }).toEqual({ told: true, untold: true });
  });
});
