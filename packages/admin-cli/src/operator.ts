// The operator's way in: gRPC clients of the services, calling with contexts that are signed with the operator's key.

import { readHome, readJson, readRuntime } from '@almanac/embedded/home';
import { type ContextSigner, createContextSigner } from '@almanac/service-kit/caller/call-context';
import { ConfigReader, type RpcTlsFiles, readRpcTls } from '@almanac/service-kit/config/config';
import { createLogger } from '@almanac/service-kit/observability/logger';
import { type ClosableRpcClient, createRpcClient } from '@almanac/service-kit/rpc/client';
import type { RpcClient, RpcServiceName } from '@almanac/service-kit/rpc/contract';
import { watchServiceTls } from '@almanac/service-kit/tls/service-tls';

type Jwk = Record<string, unknown>;

/** Calls that concern no account are made for this one, which never exists. */
export const noAccount = { accountId: 0 };

export type Operator = {
  /** Where clients reach the system, when that is known. */
  baseUrl: string | undefined;
  service<N extends RpcServiceName>(name: N): RpcClient<N>;
  close(): void;
};

/** Something the operator has to put right; shown without a stack. */
export class OperatorError extends Error {}

export type OperatorConfig = {
  key: Jwk;
  addresses: Record<string, string>;
  baseUrl?: string | undefined;
  rpcTls?: RpcTlsFiles;
};

/** Clients are made when first asked for. */
export async function createOperator(given: OperatorConfig): Promise<Operator> {
  const sign: ContextSigner = await createContextSigner('operator', given.key);
  const tls = given.rpcTls && watchServiceTls(given.rpcTls, createLogger('admin', 'silent'));
  const clients = new Map<string, ClosableRpcClient<RpcServiceName>>();
  return {
    baseUrl: given.baseUrl,
    service: <N extends RpcServiceName>(name: N) => {
      const address = given.addresses[name];
      if (!address)
        throw new OperatorError(`It is not known where ${name} is: set ${name.toUpperCase()}_RPC to its host:port.`);
      const client = clients.get(name) ?? createRpcClient(name, address, sign, tls);
      clients.set(name, client as ClosableRpcClient<RpcServiceName>);
      return client.client as RpcClient<N>;
    },
    close: () => {
      for (const client of clients.values()) client.close();
      tls?.stop();
    },
  };
}

/**
 * Reads key and addresses from the environment (ALMANAC_OPERATOR_KEY, IDENTITY_RPC …), or else from the embedded system
 * that runs here.
 */
export function readOperatorConfig(env: NodeJS.ProcessEnv): OperatorConfig {
  const home = readHome(env);
  const runtime = readRuntime(home);
  const names = ['identity', 'metadata', 'data', 'jobs', 'billing'];
  const addresses = Object.fromEntries(
    names.flatMap((name) => {
      const address = env[`${name.toUpperCase()}_RPC`] || runtime?.rpc[name];
      return address ? [[name, address]] : [];
    }),
  );
  if (Object.keys(addresses).length === 0)
    throw new OperatorError(
      `No system is known: start one with "npm start", or set IDENTITY_RPC, BILLING_RPC, METADATA_RPC and JOBS_RPC (looked in ${home.folder}).`,
    );
  return {
    key: readKey(env.ALMANAC_OPERATOR_KEY, home.secrets),
    addresses,
    baseUrl: env.ALMANAC_PUBLIC_URL || runtime?.base_url,
    ...readTls(env),
  };
}

function readTls(env: NodeJS.ProcessEnv) {
  const read = new ConfigReader(env);
  return read.finish(readRpcTls(read));
}

function readKey(text: string | undefined, secretsFile: string): Jwk {
  if (text) {
    try {
      return JSON.parse(text) as Jwk;
    } catch {
      throw new OperatorError('ALMANAC_OPERATOR_KEY should be a private Ed25519 key as JWK (JSON).');
    }
  }
  const key = readJson<{ context_keys?: { operator?: Jwk } }>(secretsFile)?.context_keys?.operator;
  if (!key) throw new OperatorError('There is no operator key: set ALMANAC_OPERATOR_KEY (a private Ed25519 JWK).');
  return key;
}
