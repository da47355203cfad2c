// Tracing with OpenTelemetry's SDK. Loaded only when tracing is on (start.ts).
import {
  context,
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { createLogger } from '../logger.ts';
import { traceStatements } from './sql.ts';
import type { Carrier, Facts, Span, SpanOptions, Tracing } from './tracing.ts';

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

const warnEveryMs = 60_000;

/**
 * Samples `share` of the traces that begin here. The exporter reads its settings from the
 * environment.
 */
export function createTracing(service: string, share: number): Tracing {
  warnOfFailures(service);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const sampler = new TraceIdRatioBasedSampler(share);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.namespace': 'almanac', 'service.name': `almanac-${service}` }),
    // A client's trace context doesn't decide what is sampled; between services, the gateway
    // decides.
    sampler: new ParentBasedSampler({
      root: sampler,
      ...(service === 'gateway' ? { remoteParentSampled: sampler } : {}),
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), scheduledDelayMillis: 1_000 })],
  });
  const tracer = provider.getTracer('almanac');
  const propagator = new W3CTraceContextPropagator();

  const carrierIn = (place: ReturnType<typeof context.active>): Carrier => {
    const carrier: Carrier = {};
    propagator.inject(place, carrier, defaultTextMapSetter);
    return carrier;
  };
  const begin = ({ kind, name, parent, facts = {} }: SpanOptions): Span => {
    const from = parent ? propagator.extract(ROOT_CONTEXT, parent, defaultTextMapGetter) : context.active();
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes: facts }, from);
    const inside = trace.setSpan(from, span);
    return {
      carrier: carrierIn(inside),
      within: (work) => context.with(inside, work),
      end: (outcome = {}) => endSpan(span, outcome),
    };
  };
  const tracing: Tracing = {
    begin,
    run: async (options, work) => {
      const span = begin(options);
      try {
        const answer = await span.within(work);
        span.end();
        return answer;
      } catch (error) {
        span.end({ failed: failureOf(error) });
        throw error;
      }
    },
    here: () => (trace.getSpan(context.active()) ? carrierIn(context.active()) : undefined),
    stop: () => provider.shutdown(),
  };
  traceStatements(tracing);
  return tracing;
}

function endSpan(
  span: OtelSpan,
  { name, facts, failed }: { name?: string; facts?: Facts; failed?: string | undefined },
) {
  if (name) span.updateName(name);
  if (facts) span.setAttributes(facts);
  if (failed) span.setAttribute('error.type', failed).setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

// The kind of the failure only: a message may quote a caller's data.
function failureOf(error: unknown): string {
  const { kind, name } = error as { kind?: unknown; name?: unknown };
  return String(kind ?? name ?? 'unknown').slice(0, 64);
}

// Logs that the collector is away, but not for every batch.
function warnOfFailures(service: string): void {
  const logger = createLogger(service, 'warn');
  let warnedAt = 0;
  const warn = () => {
    if (Date.now() - warnedAt < warnEveryMs) return;
    warnedAt = Date.now();
    logger.warn('traces could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT');
  };
  const quiet = () => {};
  diag.setLogger({ error: warn, warn: quiet, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.ERROR);
}
