// The product under test: a whole embedded system as of `npm start`, with one account.

import { createAccount, updateAccount } from '@almanac/admin-cli/accounts';
import { createOperator, readOperatorConfig } from '@almanac/admin-cli/operator';
import { type Api, createApi } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { type Runtime, readHome, readJson, readRuntime } from '@almanac/embedded/home';
import type { Secrets } from '@almanac/embedded/secrets';
import { type CallClaims, contextHeader, createContextSigner } from '@almanac/service-kit/caller/call-context';
import { createRpcClient } from '@almanac/service-kit/rpc/client';
import type { RpcCaller, RpcClient } from '@almanac/service-kit/rpc/contract';
import { startSystem } from '@almanac/testkit/system/system';

/** A server, and the headers of calls to it. */
export type Target = { port: number; headers(): Promise<Record<string, string>> };

export type Product = {
  api: Api;
  /** The administrator of the account, and where they log in. */
  person: { email: string; password: string };
  origin: string;
  gateway: Target;
  /** The data service, as the gateway calls it. */
  service: Target;
  /** Data's RPC as metadata calls it, and the caller for whom. */
  asMetadata: { data: RpcClient<'data'>; caller: RpcCaller };
  /** Process ids by name. */
  processes: Record<string, number>;
  /** The process that started all of them. */
  supervisor: number;
  /** The superuser's URL of a database. */
  databaseUrl(name: string): string;
  stop(): Promise<unknown>;
};

/** Starts the system in the folder with default settings, and signs in. */
export async function startProduct(home: string): Promise<Product> {
  const system = await startSystem({ home, env: { ALMANAC_LOG_LEVEL: undefined } });
  let stop = () => system.stop({ keep: true });
  try {
    const folder = readHome({ ALMANAC_HOME: home });
    const { http, rpc, postgres_port, processes } = readRuntime(folder) as Runtime;
    const secrets = readJson<Secrets>(folder.secrets) as Secrets;
    const { api, person } = await signIn(system.baseUrl, home);
    const sign = await createContextSigner('metadata', secrets.context_keys.metadata);
    const data = createRpcClient('data', rpc.data as string, sign);
    stop = async () => {
      data.close();
      return system.stop({ keep: true });
    };
    return {
      api,
      person,
      origin: system.baseUrl,
      gateway: { port: portOf(http.gateway), headers: async () => ({ Authorization: `Bearer ${api.token}` }) },
      service: { port: portOf(http.data), headers: await contextOf(api.token, secrets) },
      asMetadata: { data: data.client, caller: callerOf(api.token) },
      processes,
      supervisor: system.pid,
      databaseUrl: (name) =>
        `postgres://almanac:${secrets.database_passwords.superuser}@127.0.0.1:${postgres_port}/${name}`,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const portOf = (address: string | undefined) => Number(address?.split(':')[1]);

async function signIn(baseUrl: string, home: string): Promise<Pick<Product, 'api' | 'person'>> {
  const operator = await createOperator(readOperatorConfig({ ...process.env, ALMANAC_HOME: home }));
  try {
    const account = await createAccount(operator, {
      name: 'Bench',
      plan: 'enterprise',
      adminEmail: 'bench@example.com',
      redirectUri: 'http://127.0.0.1:9876/callback',
    });
    await updateAccount(operator, account.account_id, { allowance: 1_000_000_000 });
    const { access_token } = await signInPerson(baseUrl, account.application, account.admin);
    return { api: createApi(baseUrl, access_token), person: account.admin };
  } finally {
    operator.close();
  }
}

function callerOf(token: string): CallClaims {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());
  return {
    accountId: claims.account_id,
    userId: claims.user_id,
    applicationId: claims.application_id,
    scopes: claims.scope.split(' '),
    branching: true,
  };
}

// The claims of the token, signed with the gateway's key; a context is valid for a minute.
async function contextOf(token: string, { context_keys }: Secrets): Promise<Target['headers']> {
  const sign = await createContextSigner('gateway', context_keys.gateway);
  const caller = callerOf(token);
  return async () => ({
    [contextHeader]: await sign(caller, 'data:http'),
    'X-Forwarded-For': '127.0.0.1',
  });
}
