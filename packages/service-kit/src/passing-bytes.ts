// Bytes of files pass through a service in buffers that are garbage as soon as they are sent on. They lie outside of V8's heap, but V8
// takes them for growth of it: after every dozen megabytes all of the heap would be searched, by several threads, which was most of what
// copying a file cost. Here V8 is asked to look among the youngest objects only, where those buffers are. It does so when it wants
// garbage itself, too, but there it waits for the heap to fill, and such buffers hardly fill it.
import v8 from 'node:v8';
import vm from 'node:vm';

const collectEveryBytes = 4 * 1024 * 1024;
/** V8 otherwise lets a small heap grow by less than what may be on its way. */
const heapGrowth = '--heap-growing-percent=100';

let passed = 0;
let collectYoung: (() => void) | undefined;

/** Tells that so many bytes came in or went out. Now and then takes a millisecond to free those that are done with. */
export function bytesPassed(count: number): void {
  passed += count;
  if (passed < collectEveryBytes) return;
  passed = 0;
  collectYoung ??= findCollector();
  collectYoung();
}

function findCollector(): () => void {
  v8.setFlagsFromString(heapGrowth);
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as (options: { type: 'minor' }) => void;
  return () => collect({ type: 'minor' });
}
