// Tracing costs nothing while it is off: a process of its own tells what it loads.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

const program = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({
    resolve: (name, context, next) => {
      // The metrics' library loads the interface anyway.
      if (name.startsWith('@opentelemetry/') && !context.parentURL.includes('/prom-client/')) loaded.push(name);
      return next(name, context);
    },
  });
  const { startTracing } = await import('./start.ts');
  const files = ['process/run', 'process/service-runtime', 'process/http-server', 'rpc/client', 'rpc/server', 'messaging/outbox'];
  for (const file of files) await import('../../' + file + '.ts');
  let problem = '';
  await startTracing('data', process.env).catch((error) => (problem = error.message));
  console.log(JSON.stringify({ loaded: loaded.length, isOn: (await import('./tracing.ts')).tracing !== undefined, problem }));
  process.exit();
`;

async function start(env: Record<string, string>): Promise<{ loaded: number; isOn: boolean; problem: string }> {
  const words = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program];
  const { stdout } = await run(process.execPath, words, {
    cwd: import.meta.dirname,
    env: { PATH: process.env.PATH, ...env },
  });
  return JSON.parse(stdout);
}

describe('tracing', () => {
  it('loads no module of OpenTelemetry unless it is configured', async () => {
    expect(await start({})).toEqual({ loaded: 0, isOn: false, problem: '' });
  });

  it('is on when an address is given', async () => {
    const { loaded, isOn } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' });
    expect({ loaded: loaded > 0, isOn }).toEqual({ loaded: true, isOn: true });
  });

  it('tells what is wrong with its settings', async () => {
    const { problem } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1:4317', OTEL_TRACES_SAMPLER_ARG: 'all' });
    expect(problem).toMatch(/2 problem.*OTEL_EXPORTER_OTLP_ENDPOINT should be.*OTEL_TRACES_SAMPLER_ARG should be/s);
  });
});
