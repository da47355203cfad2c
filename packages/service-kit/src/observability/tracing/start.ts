// Starts tracing where it is configured.
import { ConfigReader, type Environment } from '../../config/config.ts';
import { setTracing } from './tracing.ts';

/** Starts tracing if it is configured. Call it before anything else is constructed. */
export async function startTracing(service: string, env: Environment): Promise<void> {
  const read = new ConfigReader(env);
  const url = read.url('OTEL_EXPORTER_OTLP_ENDPOINT', 'where traces are sent by OTLP over HTTP', ['http:', 'https:'], {
    default: '',
  });
  const share = read.text('OTEL_TRACES_SAMPLER_ARG', 'the share of calls to trace', { default: '1' });
  if (!(Number(share) >= 0 && Number(share) <= 1))
    read.problems.push('OTEL_TRACES_SAMPLER_ARG should be the share of calls to trace (a number from 0 to 1).');
  read.finish({});
  if (url === '') return;
  const { createTracing } = await import('./opentelemetry.ts');
  setTracing(createTracing(service, Number(share)));
}
