import v8 from 'node:v8';
import vm from 'node:vm';
import type { Exchange } from './exchange.ts';
import { OpenExchanges } from './open-exchanges.ts';

const exchangeBytes = 8_000;
const made = () => ({ place: -1 }) as Exchange;

describe('the exchanges under way', () => {
  it('are those that were added and not taken out', () => {
    const open = new OpenExchanges();
    const expected: Exchange[] = [];
    for (let i = 0; i < 2_000; i += 1) {
      const choice = (i * 7_919) % 1_009;
      const [gone] = choice % 2 === 0 ? expected.splice(choice % (expected.length + 1), 1) : [];
      if (gone) open.remove(gone);
      else {
        const exchange = made();
        expected.push(exchange);
        open.add(exchange);
      }
      expect(open.size).toBe(expected.length);
      expect(new Set(open.list())).toEqual(new Set(expected));
    }
  });

  it('are found as garbage while they are young', () => {
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc') as (options: { type: 'minor' }) => void;
    const open = new OpenExchanges();
    const running: Exchange[] = [];
    const used = () => {
      for (const _ of [1, 2]) collect({ type: 'minor' });
      return v8.getHeapStatistics().used_heap_size;
    };
    const before = used();
    for (let i = 0; i < 10_000; i += 1) {
      const exchange = made();
      Object.assign(exchange, { req: new Array(exchangeBytes / 8).fill(i) });
      open.add(exchange);
      running.push(exchange);
      if (running.length > 16) open.remove(running.shift() as Exchange);
      if (i % 500 === 0) collect({ type: 'minor' });
    }
    expect((used() - before) / exchangeBytes).toBeLessThan(1_000);
  });
});
