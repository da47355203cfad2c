// Traces of calls through the services. Without OTEL_EXPORTER_OTLP_ENDPOINT tracing is off:
// `tracing` is undefined, no module of OpenTelemetry is loaded, and nothing is wrapped (parts check
// `tracing` once, when they are constructed). Spans have names and numbers only: no values of
// statements, no query string, no body, no token.

/** The W3C trace context of a call, as headers, metadata and messages carry it. */
export type Carrier = { traceparent?: string; tracestate?: string };

export type Facts = Record<string, string | number | boolean | undefined>;

export type SpanOptions = {
  kind: 'server' | 'client' | 'producer' | 'consumer';
  name: string;
  /** By default the current span. */
  parent?: Carrier;
  facts?: Facts;
};

/** A piece of work with a beginning and an end. */
export type Span = {
  carrier: Carrier;
  /** Spans that begin in `work`, also later, are children of this one. */
  within<T>(work: () => T): T;
  /** Ends the span; `failed` is the kind of a failure. */
  end(outcome?: { name?: string; facts?: Facts; failed?: string | undefined }): void;
};

export type Tracing = {
  begin(options: SpanOptions): Span;
  /** Traces work to its end. */
  run<T>(options: SpanOptions, work: () => Promise<T>): Promise<T>;
  /** The current span; undefined outside of any. */
  here(): Carrier | undefined;
  /** Exports the remaining spans, within a bounded time. */
  stop(): Promise<void>;
};

/** Undefined while tracing is off. */
export let tracing: Tracing | undefined;

/** Sets the tracing of this process (start.ts, before anything else is constructed). */
export function setTracing(started: Tracing): void {
  tracing = started;
}

/** The trace context that a message or a row carries as text. */
export const carrierOf = (traceparent: string | null | undefined): Carrier => (traceparent ? { traceparent } : {});
