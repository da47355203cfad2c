// Turns calls between processes into spans: HTTP requests, gRPC calls and messages, each within the
// trace context that it carries.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type * as grpc from '@grpc/grpc-js';
import type { Bus } from '../../messaging/bus/bus.ts';
import type { BusMessage } from '../../messaging/bus/message.ts';
import { type Carrier, carrierOf, type Facts, type Tracing } from './tracing.ts';

const untraced = new Set(['/healthz', '/readyz', '/metrics']);

type Served = { method: string; route?: string | undefined; facts?: Facts };

/**
 * Traces a served request: `work` serves it, `served` names it afterwards. Health checks are
 * skipped.
 */
export function traceRequest(
  tracing: Tracing,
  req: IncomingMessage,
  res: ServerResponse,
  work: (carrier: Carrier) => void,
  served: () => Served,
): void {
  if (untraced.has(req.url ?? '')) {
    work({});
    return;
  }
  const { traceparent, tracestate } = req.headers;
  const parent = { traceparent, tracestate: String(tracestate ?? '') || undefined } as Carrier;
  const span = tracing.begin({ kind: 'server', name: 'HTTP', parent });
  res.once('close', () => {
    const { method, route, facts } = served();
    span.end({
      name: route ? `${method} ${route}` : method,
      facts: {
        ...facts,
        'http.request.method': method,
        'http.response.status_code': res.statusCode,
        ...(route ? { 'http.route': route } : {}),
      },
      failed: res.statusCode >= 500 ? String(res.statusCode) : undefined,
    });
  });
  span.within(() => work(span.carrier));
}

const traceKeys = ['traceparent', 'tracestate'] as const;

/** Sends the trace context along with a gRPC call. */
export function addTraceContext(tracing: Tracing, metadata: grpc.Metadata): void {
  const here = tracing.here();
  for (const key of traceKeys) if (here?.[key]) metadata.set(key, here[key]);
}

const rpcFacts = (service: string, method: string) => ({
  'rpc.system.name': 'grpc',
  'rpc.method': `almanac.${service}.v1/${method}`,
});

// biome-ignore lint/suspicious/noExplicitAny: calls of any method pass through as they are.
type AnyCall = (...args: any[]) => any;

/** Traces a client's calls of one method. */
export function traceClientCall(
  tracing: Tracing,
  service: string,
  method: string,
  streams: boolean,
  call: AnyCall,
): AnyCall {
  const options = { kind: 'client', name: `${service}/${method}`, facts: rpcFacts(service, method) } as const;
  if (!streams) return (...args) => tracing.run(options, () => call(...args));
  return async function* (...args) {
    const span = tracing.begin(options);
    const messages = call(...args)[Symbol.asyncIterator]() as AsyncIterator<unknown>;
    let isOver = false;
    try {
      for (;;) {
        const next = await span.within(() => messages.next());
        isOver = next.done === true;
        if (isOver) return;
        yield next.value;
      }
    } finally {
      if (!isOver) await messages.return?.();
      span.end();
    }
  };
}

/** Traces served calls of one gRPC method. */
export function traceServedCall(tracing: Tracing, service: string, method: string, handle: AnyCall): AnyCall {
  return async (call: { metadata: grpc.Metadata }, callback?: AnyCall) => {
    const [traceparent, tracestate] = traceKeys.map((key) => call.metadata.get(key)[0]?.toString());
    const parent: Carrier = { ...carrierOf(traceparent), ...(tracestate ? { tracestate } : {}) };
    const span = tracing.begin({
      kind: 'server',
      name: `${service}/${method}`,
      parent,
      facts: rpcFacts(service, method),
    });
    let failed: string | undefined;
    const answer = (error: { name?: string } | null, ...rest: unknown[]) => {
      failed = error?.name;
      callback?.(error, ...rest);
    };
    try {
      await span.within(() => handle(call, answer));
    } finally {
      span.end({ failed });
    }
  };
}

/** A bus whose messages carry the publisher's trace context; handling one is a span. */
export function traceBus(tracing: Tracing, bus: Bus): Bus {
  const traced =
    <M extends Pick<BusMessage, 'type' | 'traceparent'>>(
      place: string,
      handler: (message: M) => Promise<void> | void,
    ) =>
    (message: M) => {
      const facts = { 'messaging.operation.type': 'process', 'messaging.destination.name': place };
      const parent = carrierOf(message.traceparent);
      return tracing.run({ kind: 'consumer', name: `process ${message.type}`, parent, facts }, async () =>
        handler(message),
      );
    };
  const own: Pick<Bus, 'publish' | 'consume' | 'subscribe'> = {
    publish: (messages) => bus.publish(messages.map((message) => withTrace(tracing, message))),
    consume: (queue, payloads, handler, options) => bus.consume(queue, payloads, traced(queue, handler), options),
    subscribe: (payloads, handler, options) => bus.subscribe(payloads, traced('subscriber', handler), options),
  };
  return new Proxy(bus, {
    get: (_bus, name) => {
      if (name in own) return own[name as keyof typeof own];
      const member: unknown = Reflect.get(bus, name);
      return typeof member === 'function' ? member.bind(bus) : member;
    },
  });
}

function withTrace(tracing: Tracing, message: BusMessage): BusMessage {
  const traceparent = message.traceparent ?? tracing.here()?.traceparent;
  return traceparent ? { ...message, traceparent } : message;
}
