// Tracing by OpenTelemetry's own SDK; loaded only when it is on (tracing.ts).
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

const complainEveryMs = 60_000;

/** `share` of the traces that begin here are kept; the exporter reads the address and its headers from the environment. */
export function createTracing(service: string, share: number): Tracing {
  complainTo(service);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const sampler = new TraceIdRatioBasedSampler(share);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.namespace': 'almanac', 'service.name': `almanac-${service}` }),
    // A stranger that sends us a trace context doesn't decide how much we keep; between services, the gateway has decided.
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

// Words about kinds of failures only: a message may quote what somebody sent.
function failureOf(error: unknown): string {
  const { kind, name } = error as { kind?: unknown; name?: unknown };
  return String(kind ?? name ?? 'unknown').slice(0, 64);
}

// A collector that is away is told of, but not with every batch.
function complainTo(service: string): void {
  const logger = createLogger(service, 'warn');
  let toldAt = 0;
  const complain = () => {
    if (Date.now() - toldAt < complainEveryMs) return;
    toldAt = Date.now();
    logger.warn('traces could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT');
  };
  const quiet = () => {};
  diag.setLogger({ error: complain, warn: quiet, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.ERROR);
}
