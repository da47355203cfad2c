import v8 from 'node:v8';
import vm from 'node:vm';
import { type OpenRequest, OpenRequests } from './open-requests.ts';

const requestBytes = 8_000;

describe('the requests in flight', () => {
  it('are those that were added and not removed', () => {
    const open = new OpenRequests();
    const expected: OpenRequest[] = [];
    for (let i = 0; i < 2_000; i += 1) {
      const choice = (i * 7_919) % 1_009;
      const [removed] = choice % 2 === 0 ? expected.splice(choice % (expected.length + 1), 1) : [];
      if (removed) open.remove(removed);
      else expected.push(open.add({} as OpenRequest));
      expect(open.size).toBe(expected.length);
      expect(new Set(open.list())).toEqual(new Set(expected));
    }
  });

  it('are collected by minor garbage collections after they end', () => {
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc') as (options: { type: 'minor' }) => void;
    const open = new OpenRequests();
    const running: OpenRequest[] = [];
    const used = () => {
      for (const _ of [1, 2]) collect({ type: 'minor' });
      return v8.getHeapStatistics().used_heap_size;
    };
    const before = used();
    for (let i = 0; i < 10_000; i += 1) {
      const req = new Array(requestBytes / 8).fill(i);
      running.push(open.add({ req } as unknown as OpenRequest));
      if (running.length > 16) open.remove(running.shift() as OpenRequest);
      if (i % 500 === 0) collect({ type: 'minor' });
    }
    expect((used() - before) / requestBytes).toBeLessThan(1_000);
  });
});
