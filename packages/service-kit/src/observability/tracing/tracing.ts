// Traces of calls through the services. Off unless OTEL_EXPORTER_OTLP_ENDPOINT says where they go: then `tracing` is undefined, no
// module of OpenTelemetry is loaded, and what could be traced is wired without a trace of it (whoever traces looks here once, when it
// is constructed). Names and numbers only: no statement's values, no query string, no body, no token is ever a fact of a span.

/** The W3C trace context of a call, as headers, metadata and messages carry it. */
export type Carrier = { traceparent?: string; tracestate?: string };

export type Facts = Record<string, string | number | boolean | undefined>;

export type SpanOptions = {
  kind: 'server' | 'client' | 'producer' | 'consumer';
  name: string;
  /** What it is a part of; the span that runs now when left out. */
  parent?: Carrier;
  facts?: Facts;
};

/** A piece of work with a beginning and an end. */
export type Span = {
  carrier: Carrier;
  /** What begins inside, also later, is a part of this span. */
  within<T>(work: () => T): T;
  /** Ends it once; `failed` is a short word for what went wrong. */
  end(outcome?: { name?: string; facts?: Facts; failed?: string | undefined }): void;
};

export type Tracing = {
  begin(options: SpanOptions): Span;
  /** Traces work to its end. */
  run<T>(options: SpanOptions, work: () => Promise<T>): Promise<T>;
  /** The span that runs now; undefined outside of any. */
  here(): Carrier | undefined;
  /** Sends what is not sent yet (bounded). */
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
