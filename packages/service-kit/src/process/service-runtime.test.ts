import type { CommonConfig } from '../config/config.ts';
import { Health } from '../observability/health.ts';
import { createLogger } from '../observability/logger.ts';
import { createLifecycle } from './service-runtime.ts';

const given = () => ({
  logger: createLogger('test', 'silent'),
  health: new Health(),
  config: { drainSeconds: 0 } as CommonConfig,
  eventLoop: { isLate: () => false, stop: () => {} },
});

describe('the life of a service', () => {
  it('starts parts in order and stops them once, in reverse, after readiness went off', async () => {
    const events: string[] = [];
    const f = given();
    const part = (name: string, port?: number) => ({
      name,
      start: async () => {
        events.push(`start ${name}`);
        return port;
      },
      stop: () => {
        events.push(`stop ${name} draining=${f.health.isDraining}`);
      },
    });
    const life = createLifecycle(f, [part('database'), part('rpc', 2), part('http', 1)]);
    expect(await life.start()).toEqual({ httpPort: 1, rpcPort: 2 });
    expect((await f.health.check()).ready).toBe(true);
    await Promise.all([life.stop(), life.stop()]);
    expect(events).toEqual([
      'start database',
      'start rpc',
      'start http',
      'stop http draining=true',
      'stop rpc draining=true',
      'stop database draining=true',
    ]);
    expect((await f.health.check()).ready).toBe(false);
  });

  it('stops what had started when a part fails, and goes on past one that will not stop', async () => {
    const stopped: string[] = [];
    const life = createLifecycle(given(), [
      { name: 'a', stop: () => void stopped.push('a') },
      { name: 'b', stop: () => Promise.reject(new Error('will not')) },
      { name: 'c', start: () => Promise.reject(new Error('no broker')), stop: () => void stopped.push('c') },
    ]);
    await expect(life.start()).rejects.toThrow('no broker');
    expect(stopped).toEqual(['a']);
  });
});
