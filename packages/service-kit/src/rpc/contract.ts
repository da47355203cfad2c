// Loads protos/ at run time, and derives the types of servers and clients from the generated ones.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { BillingDefinition, BillingHandlers } from '@almanac/protos/generated/almanac/billing/v1/Billing.ts';
import type { DataDefinition, DataHandlers } from '@almanac/protos/generated/almanac/data/v1/Data.ts';
import type { IdentityDefinition, IdentityHandlers } from '@almanac/protos/generated/almanac/identity/v1/Identity.ts';
import type { JobsDefinition, JobsHandlers } from '@almanac/protos/generated/almanac/jobs/v1/Jobs.ts';
import type { MetadataDefinition, MetadataHandlers } from '@almanac/protos/generated/almanac/metadata/v1/Metadata.ts';
import type * as grpc from '@grpc/grpc-js';
import { loadSync, type MethodDefinition } from '@grpc/proto-loader';
import type { CallContext } from '../caller/call-context.ts';
import { requireStreamEnd } from './streams.ts';

type Contracts = {
  identity: { handlers: IdentityHandlers; definition: IdentityDefinition };
  metadata: { handlers: MetadataHandlers; definition: MetadataDefinition };
  data: { handlers: DataHandlers; definition: DataDefinition };
  jobs: { handlers: JobsHandlers; definition: JobsDefinition };
  billing: { handlers: BillingHandlers; definition: BillingDefinition };
};

export type RpcServiceName = keyof Contracts;

type Named<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] };

type Handle<H> =
  H extends grpc.handleUnaryCall<infer Req, infer Res>
    ? (call: CallContext, request: Req, signal: AbortSignal) => Promise<Res>
    : H extends grpc.handleClientStreamingCall<infer Req, infer Res>
      ? (call: CallContext, requests: AsyncIterable<Req>, signal: AbortSignal) => Promise<Res>
      : H extends grpc.handleServerStreamingCall<infer Req, infer Res>
        ? (call: CallContext, request: Req, signal: AbortSignal) => AsyncIterable<Res>
        : never;

/** One function for each RPC of a service; a new RPC is a compile error until it exists. */
export type RpcHandlers<N extends RpcServiceName> = {
  [K in Named<Contracts[N]['handlers']>]: Handle<Contracts[N]['handlers'][K]>;
};

/**
 * `deadlineMs` replaces the default of 5 s (10 minutes for streams); `signal` cancels. With
 * `waitForReady: false` a call without a connection fails at once instead of waiting for a restart.
 */
export type RpcOptions = { deadlineMs?: number; signal?: AbortSignal; waitForReady?: boolean };

/** The caller: an incoming call, or the claims of a service that acts for an account later. */
export type RpcCaller = Pick<CallContext, 'accountId'> & Partial<CallContext>;

type Call<H, D> =
  D extends MethodDefinition<infer Req, infer _Res, infer _OutReq, infer OutRes>
    ? H extends grpc.handleUnaryCall<infer _A, infer _B>
      ? (caller: RpcCaller, request: Req, options?: RpcOptions) => Promise<OutRes>
      : H extends grpc.handleClientStreamingCall<infer _C, infer _D>
        ? (caller: RpcCaller, requests: AsyncIterable<Req>, options?: RpcOptions) => Promise<OutRes>
        : (caller: RpcCaller, request: Req, options?: RpcOptions) => AsyncIterable<OutRes>
    : never;

/** The calls of a service. */
export type RpcClient<N extends RpcServiceName> = {
  [K in Named<Contracts[N]['handlers']> & keyof Contracts[N]['definition']]: Call<
    Contracts[N]['handlers'][K],
    Contracts[N]['definition'][K]
  >;
};

/** Loads a service definition from protos/. Throws when a stream has no end message. */
export function loadServiceDefinition(name: RpcServiceName): grpc.ServiceDefinition {
  const root = dirname(createRequire(import.meta.url).resolve('@almanac/protos/package.json'));
  const packages = loadSync(join(root, 'almanac', name, 'v1', `${name}.proto`), {
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
    includeDirs: [root],
  });
  const service = `almanac.${name}.v1.${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const methods = packages[service] as grpc.ServiceDefinition;
  for (const [method, definition] of Object.entries(methods)) requireStreamEnd(`${service}/${method}`, definition);
  return methods;
}

export const contextMetadataKey = 'context';
export const requestIdMetadataKey = 'request-id';
export const addressMetadataKey = 'client-address';
export const errorMetadataKey = 'almanac-error-bin';
