import { createMetrics } from './metrics.ts';

describe('metrics', () => {
  it('say which service they are of, also those of several things', async () => {
    const metrics = createMetrics({ service: 'data' });
    metrics.gauge('waiting', 'Something that waits.', () => 7);
    metrics.gauges('depth', 'Queues.', 'queue', async () => ({ mail: 1, work: 2 }));
    const text = await metrics.text();
    expect(text).toContain('waiting{service="data"} 7');
    expect(text).toContain('depth{queue="mail",service="data"} 1');
    expect(text).toContain('depth{queue="work",service="data"} 2');
  });

  it('leave out what can not be read and what no longer exists, and report the rest', async () => {
    const metrics = createMetrics({ service: 'data' });
    let isAway = false;
    const read = <T>(value: T) => {
      if (isAway) throw new Error('the database is away');
      return value;
    };
    metrics.gauge('waiting', 'Something that waits.', async () => read(7));
    metrics.gauges('depth', 'Queues.', 'queue', async () => read<Record<string, number>>({ mail: 1 }));
    metrics.gauge('open', 'Something open.', () => 3);
    expect(await metrics.text()).toMatch(/^waiting\{.*\} 7$/m);
    isAway = true;
    const text = await metrics.text();
    expect(text).not.toMatch(/^(waiting|depth)[{ ]/m);
    expect(text).toContain('open{service="data"} 3');
  });

  it('do not wait for ever for a number', async () => {
    const metrics = createMetrics();
    metrics.gauge('waiting', 'Something that waits.', () => new Promise(() => {}));
    metrics.gauge('open', 'Something open.', () => 3);
    expect(await metrics.text()).toContain('open 3');
  });
});
