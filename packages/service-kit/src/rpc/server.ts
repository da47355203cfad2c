// The gRPC server of a service: verifies the signed context, checks which service may call which
// method, enforces the deadline, and sends errors with their kind.
import * as grpc from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import type { ContextVerifier, Issuer } from '../caller/call-context.ts';
import { errorKinds, ServiceError, toServiceError } from '../errors.ts';
import { readRequestId } from '../http/answer.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { traceServedCall } from '../observability/tracing/calls.ts';
import { tracing } from '../observability/tracing/tracing.ts';
import { toPostgresError } from '../postgres/errors.ts';
import { isCertificateOf, type ServiceTls } from '../tls/service-tls.ts';
import {
  addressMetadataKey,
  contextMetadataKey,
  errorMetadataKey,
  loadServiceDefinition,
  type RpcHandlers,
  type RpcServiceName,
  requestIdMetadataKey,
} from './contract.ts';
import { writeErrorTrailer } from './error-trailer.ts';
import { receiveStream, StreamSender, streamEndMetadataKey, withRawStreams } from './streams.ts';
import { serverCredentials } from './tls.ts';

export type RpcServer = { start(): Promise<number>; stop(): Promise<void> };

export type RpcServerOptions<N extends RpcServiceName> = {
  service: N;
  host: string;
  port: number;
  handlers: RpcHandlers<N>;
  /** Which issuers may call each method. */
  callers: Record<keyof RpcHandlers<N>, readonly Issuer[]>;
  verifyContext: ContextVerifier;
  /** Without TLS, the signed context alone identifies the caller. */
  tls: ServiceTls | undefined;
  logger: Logger;
  metrics: Metrics;
};

const insecure = () => grpc.ServerCredentials.createInsecure();
const maxCallMs = 10 * 60_000; // the clients' deadline for streams

type AnyCall = grpc.ServerUnaryCall<unknown, unknown> &
  grpc.ServerReadableStream<unknown, unknown> &
  grpc.ServerWritableStream<unknown, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: the mapped handler types are erased here, where methods are wired by name.
type AnyHandler = (...args: any[]) => any;

/** Builds the server; `start` listens and returns the port. Reflection is off. */
export function createRpcServer<N extends RpcServiceName>(options: RpcServerOptions<N>): RpcServer {
  const server = new grpc.Server({
    'grpc.max_receive_message_length': 4 * 1024 * 1024,
    'grpc.max_metadata_size': 16 * 1024,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_permit_without_calls': 1,
  });
  const definition = loadServiceDefinition(options.service);
  const raw: Record<string, grpc.MethodDefinition<unknown, unknown>> = {};
  const implementation: Record<string, AnyHandler> = {};
  for (const [name, method] of Object.entries(definition)) {
    const handle = (options.handlers as Record<string, AnyHandler>)[name];
    const callers = (options.callers as Record<string, readonly Issuer[]>)[name];
    if (!handle || !callers) throw new Error(`RPC ${name} has no handler or no callers`);
    raw[name] = withRawStreams(method);
    const served = wire(name, method, handle, callers, options);
    implementation[name] = tracing ? traceServedCall(tracing, options.service, name, served) : served;
  }
  server.addService(raw, implementation);
  const health = new HealthImplementation({ '': 'NOT_SERVING', [options.service]: 'NOT_SERVING' });
  health.addToServer(server);
  const { tls, host } = options;
  return {
    start: () =>
      new Promise((resolve, reject) =>
        server.bindAsync(`${host}:${options.port}`, tls ? serverCredentials(tls) : insecure(), (error, port) => {
          if (error) return reject(error);
          // Connections of a withdrawn authority end after their running calls; others reconnect.
          tls?.onWithdrawal(() => server.drain(`${host}:${port}`, maxCallMs));
          health.setStatus('', 'SERVING');
          health.setStatus(options.service, 'SERVING');
          resolve(port);
        }),
      ),
    stop: () =>
      new Promise((resolve) => {
        health.setStatus('', 'NOT_SERVING');
        health.setStatus(options.service, 'NOT_SERVING');
        const force = setTimeout(() => server.forceShutdown(), 15_000);
        server.tryShutdown(() => {
          clearTimeout(force);
          resolve();
        });
      }),
  };
}

function wire<N extends RpcServiceName>(
  name: string,
  method: grpc.MethodDefinition<unknown, unknown>,
  handle: AnyHandler,
  callers: readonly Issuer[],
  options: RpcServerOptions<N>,
): AnyHandler {
  const requestIdOf = (call: AnyCall) => readRequestId(call.metadata.get(requestIdMetadataKey)[0]?.toString());
  const enter = async (call: AnyCall, requestId: string) => {
    const token = call.metadata.get(contextMetadataKey)[0]?.toString();
    if (!token)
      throw new ServiceError('unauthenticated', { code: 'invalid_token', message: 'The call context is missing.' });
    const context = await options.verifyContext(token, requestId, 'rpc');
    if (options.tls && !isCertificateOf(context.issuer, call.getAuthContext().sslPeerCertificate))
      throw new ServiceError('forbidden', {
        code: 'missing_right',
        message: `The certificate of the connection is not one of ${context.issuer}.`,
      });
    if (!callers.includes(context.issuer))
      throw new ServiceError('forbidden', {
        code: 'missing_right',
        message: `${context.issuer} may not call ${name}.`,
      });
    const address = call.metadata.get(addressMetadataKey)[0]?.toString().slice(0, 64);
    return { ...context, ...(address ? { address } : {}), answerBy: answerByOf(call) };
  };
  const observe = (startedAt: number, code: string) =>
    options.metrics.rpcDuration.observe(
      { service: options.service, method: name, code },
      (performance.now() - startedAt) / 1000,
    );
  const failed = (thrown: unknown, call: AnyCall, requestId: string, startedAt: number) => {
    const error = toServiceError(toPostgresError(thrown));
    observe(startedAt, error.kind);
    if (error.status >= 500 && !call.cancelled)
      options.logger.error({ err: error.cause ?? error, rpc: name, request_id: requestId }, error.message);
    return statusOf(error);
  };
  const signalOf = (call: AnyCall) => {
    const abort = new AbortController();
    call.on('cancelled', () => abort.abort(new ServiceError('unavailable', 'The caller has disconnected.')));
    return abort.signal;
  };

  if (method.responseStream)
    return async (call: AnyCall) => {
      const startedAt = performance.now();
      const requestId = requestIdOf(call);
      try {
        const signal = signalOf(call);
        const context = await enter(call, requestId);
        call.sendMetadata(endAnnouncement());
        const sender = new StreamSender(method.responseSerialize);
        for await (const message of handle(context, call.request, signal)) {
          if (signal.aborted) break;
          if (!call.write(sender.message(message))) await drained(call, signal);
        }
        signal.throwIfAborted();
        call.write(sender.end());
        call.end();
        observe(startedAt, 'ok');
      } catch (thrown) {
        call.emit('error', failed(thrown, call, requestId, startedAt));
      }
    };
  return async (call: AnyCall, callback: grpc.sendUnaryData<unknown>) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(call);
    try {
      const signal = signalOf(call);
      const context = await enter(call, requestId);
      const requests = () => receiveStream(call, method.requestDeserialize);
      const answer = await handle(context, method.requestStream ? requests() : call.request, signal);
      observe(startedAt, 'ok');
      callback(null, answer);
    } catch (thrown) {
      callback(failed(thrown, call, requestId, startedAt));
    }
  };
}

function endAnnouncement(): grpc.Metadata {
  const metadata = new grpc.Metadata();
  metadata.set(streamEndMetadataKey, '1');
  return metadata;
}

// A deadline travels as remaining time, so the caller's clock doesn't matter.
function answerByOf(call: AnyCall): number | undefined {
  const deadline = Number(call.getDeadline());
  return Number.isFinite(deadline) ? performance.now() + deadline - Date.now() : undefined;
}

function drained(call: AnyCall, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      call.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    call.once('drain', done);
    signal.addEventListener('abort', done, { once: true });
  });
}

function statusOf(error: ServiceError): grpc.StatusObject & { name: string } {
  const metadata = new grpc.Metadata();
  metadata.set(errorMetadataKey, writeErrorTrailer(error));
  return { name: error.kind, code: errorKinds[error.kind].grpc, details: error.label, metadata };
}
