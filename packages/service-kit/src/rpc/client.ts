// The client of other services: signs the context, sets a deadline on every call (at most that of
// the call it serves), waits for a service that restarts, retries reads once, and restores errors
// with their kind.
import * as grpc from '@grpc/grpc-js';
import type { CallClaims, ContextSigner } from '../caller/call-context.ts';
import { timeLeft } from '../caller/deadline.ts';
import { ServiceError } from '../errors.ts';
import { addTraceContext, traceClientCall } from '../observability/tracing/calls.ts';
import { tracing } from '../observability/tracing/tracing.ts';
import type { ServiceTls } from '../tls/service-tls.ts';
import {
  addressMetadataKey,
  contextMetadataKey,
  errorMetadataKey,
  loadServiceDefinition,
  type RpcCaller,
  type RpcClient,
  type RpcOptions,
  type RpcServiceName,
  requestIdMetadataKey,
} from './contract.ts';
import { readErrorTrailer } from './error-trailer.ts';
import { receiveStream, StreamSender, streamEndMetadataKey, withRawStreams } from './streams.ts';
import { channelCredentials } from './tls.ts';

/** The deadline of a call that names none; tests, whose machine may be slow, wait longer. */
export const unaryDeadline = { ms: 5_000 };
const streamDeadlineMs = 10 * 60_000;
const signedForMs = 30_000;
const reconnectEveryMs = 500;
/** Longer than the reconnect interval, so that a call finds a service that has restarted. */
const connectTimeoutMs = 1_000;
const resolveNamesEveryMs = 1_000;
const streamWindowBytes = 1024 * 1024;
const reads = /^(Get|List|Count|Plan)/;

export type ClosableRpcClient<N extends RpcServiceName> = { client: RpcClient<N>; close(): void };

/** A client of `service` at host:port, with the calling service's signer and certificate. */
export function createRpcClient<N extends RpcServiceName>(
  service: N,
  address: string,
  sign: ContextSigner,
  tls?: ServiceTls,
): ClosableRpcClient<N> {
  const definition = loadServiceDefinition(service);
  const raw = Object.entries(definition).map(([name, method]) => [name, withRawStreams(method)]);
  const Client = grpc.makeGenericClientConstructor(Object.fromEntries(raw), service);
  const stub = new Client(`dns:///${address}`, tls ? channelCredentials(tls) : grpc.credentials.createInsecure(), {
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': reconnectEveryMs,
    'grpc.dns_min_time_between_resolutions_ms': resolveNamesEveryMs, // a restarted service may have another address
    'grpc.max_receive_message_length': 16 * 1024 * 1024,
    'grpc.max_send_message_length': 16 * 1024 * 1024,
    // With the default of 64 kB whole tables come in small chunks, each with a window update.
    'grpc-node.flow_control_window': streamWindowBytes,
  });
  const prepare = preparing(stub, cachingSigner(sign, `${service}:rpc`));
  const client: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(definition)) {
    // biome-ignore lint/suspicious/noExplicitAny: generic stubs have their methods by name only.
    const invoke = (stub as any)[name].bind(stub);
    if (method.responseStream) client[name] = serverStream(service, method, invoke, prepare);
    else if (method.requestStream) client[name] = clientStream(service, method, invoke, prepare);
    else client[name] = unary(service, invoke, prepare, reads.test(name));
    if (tracing) client[name] = traceClientCall(tracing, service, name, method.responseStream, client[name] as Invoke);
  }
  return { client: client as RpcClient<N>, close: () => stub.close() };
}

type MetadataFor = (caller: RpcCaller) => Promise<grpc.Metadata>;

// Caches a signed context for half of its lifetime, for all calls with the same claims.
function cachingSigner(sign: ContextSigner, port: string): MetadataFor {
  const signed = new Map<string, { token: string; until: number }>();
  return async (caller) => {
    const claims: CallClaims = {
      accountId: caller.accountId,
      userId: caller.userId,
      applicationId: caller.applicationId,
      scopes: caller.scopes ?? [],
      branching: caller.branching ?? false,
    };
    const key = JSON.stringify(claims);
    let entry = signed.get(key);
    if (!entry || entry.until < Date.now()) {
      if (signed.size > 5_000) signed.clear();
      entry = { token: await sign(claims, port), until: Date.now() + signedForMs };
      signed.set(key, entry);
    }
    const metadata = new grpc.Metadata();
    metadata.set(contextMetadataKey, entry.token);
    if (caller.requestId) metadata.set(requestIdMetadataKey, caller.requestId);
    if (caller.address) metadata.set(addressMetadataKey, caller.address);
    if (tracing) addTraceContext(tracing, metadata);
    return metadata;
  };
}

type Prepared = { metadata: grpc.Metadata; deadline: number; isConnected: boolean };
type Prepare = (caller: RpcCaller, options: RpcOptions, usualDeadlineMs: number) => Promise<Prepared>;

// Waits for a connection. Nothing has been sent until then, so writes may wait too.
function preparing(stub: grpc.Client, metadataFor: MetadataFor): Prepare {
  const connects = (by: number): Promise<boolean> =>
    new Promise((resolve) => stub.waitForReady(by, (failure) => resolve(!failure)));
  return async (caller, { deadlineMs, waitForReady = true }, usualDeadlineMs) => {
    const deadline = Date.now() + timeLeft(caller, deadlineMs ?? usualDeadlineMs);
    const metadata = await metadataFor(caller);
    // Without a connection the call is made anyway: its failure gives the reason.
    const isConnected =
      stub.getChannel().getConnectivityState(false) === grpc.connectivityState.READY ||
      (waitForReady && (await connects(Math.min(deadline, Date.now() + connectTimeoutMs))));
    return { metadata, deadline, isConnected };
  };
}

// biome-ignore lint/suspicious/noExplicitAny: see above.
type Invoke = (...args: any[]) => any;

function unary(service: string, invoke: Invoke, prepare: Prepare, mayRetry: boolean) {
  const send = ({ metadata, deadline }: Prepared, request: unknown, { signal }: RpcOptions) =>
    new Promise((resolve, reject) => {
      const call = invoke(request, metadata, { deadline }, (error: grpc.ServiceError | null, answer: unknown) => {
        stopListening();
        if (error) reject(fromStatus(service, error));
        else resolve(answer);
      });
      const stopListening = cancelOnAbort(signal, call);
    });
  return async (caller: RpcCaller, request: unknown, options: RpcOptions = {}) => {
    const prepared = await prepare(caller, options, unaryDeadline.ms);
    try {
      return await send(prepared, request, options);
    } catch (error) {
      const isAway = error instanceof ServiceError && error.kind === 'unavailable';
      if (!mayRetry || !isAway || !prepared.isConnected || options.signal?.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return send(await prepare(caller, options, unaryDeadline.ms), request, options);
    }
  };
}

type Method = grpc.MethodDefinition<unknown, unknown>;

function clientStream(service: string, { requestSerialize }: Method, invoke: Invoke, prepare: Prepare) {
  return async (caller: RpcCaller, requests: AsyncIterable<unknown>, options: RpcOptions = {}) => {
    const { metadata, deadline } = await prepare(caller, options, streamDeadlineMs);
    metadata.set(streamEndMetadataKey, '1');
    const sender = new StreamSender(requestSerialize);
    let call!: grpc.ClientWritableStream<Buffer>;
    let settled = false;
    const answer = new Promise((resolve, reject) => {
      call = invoke(metadata, { deadline }, (error: grpc.ServiceError | null, value: unknown) => {
        settled = true;
        call.emit('drain'); // wakes a writer when the server has already answered
        if (error) reject(fromStatus(service, error));
        else resolve(value);
      });
    });
    answer.catch(() => {}); // awaited below; when the source fails first it must not be unhandled
    const stopListening = cancelOnAbort(options.signal, call);
    try {
      for await (const request of requests) {
        if (settled) break;
        if (!call.write(sender.message(request)))
          await new Promise<void>((resolve) => call.once('drain', () => resolve()));
      }
      if (!settled) call.write(sender.end());
      call.end();
      return await answer; // inside `try`: the signal can still cancel the call
    } catch (error) {
      call.cancel();
      throw error;
    } finally {
      stopListening();
    }
  };
}

function serverStream(service: string, { responseDeserialize }: Method, invoke: Invoke, prepare: Prepare) {
  return async function* (caller: RpcCaller, request: unknown, options: RpcOptions = {}) {
    const { metadata, deadline } = await prepare(caller, options, streamDeadlineMs);
    metadata.set(streamEndMetadataKey, '1');
    const call: grpc.ClientReadableStream<Buffer> = invoke(request, metadata, { deadline });
    const stopListening = cancelOnAbort(options.signal, call);
    try {
      yield* receiveStream(call, responseDeserialize);
    } catch (error) {
      throw error instanceof ServiceError ? error : fromStatus(service, error as grpc.ServiceError);
    } finally {
      stopListening();
      call.cancel();
    }
  };
}

// Cancels the call when the signal aborts, or has aborted already. Returns how to stop listening.
function cancelOnAbort(signal: AbortSignal | undefined, call: grpc.Call): () => void {
  const cancel = () => call.cancel();
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  return () => signal?.removeEventListener('abort', cancel);
}

function fromStatus(service: string, error: grpc.ServiceError): ServiceError {
  const details = error.metadata?.get(errorMetadataKey)[0];
  const sent = Buffer.isBuffer(details) ? readErrorTrailer(details, error) : undefined;
  if (sent) return sent;
  const away =
    error.code === grpc.status.UNAVAILABLE ||
    error.code === grpc.status.DEADLINE_EXCEEDED ||
    error.code === grpc.status.CANCELLED;
  if (away)
    return new ServiceError('unavailable', `The ${service} service is unavailable; try again.`, {
      cause: error,
    });
  if (error.code === grpc.status.UNIMPLEMENTED)
    return new ServiceError('unavailable', `The ${service} service is being upgraded and does not do this yet.`, {
      cause: error,
    });
  return new ServiceError('internal', 'Something went wrong on our side. The request id helps us find it.', {
    cause: error,
  });
}
