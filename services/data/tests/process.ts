// Data as a process of its own, to be killed, or to have its memory looked at; machines alone call
// it.
import type { ChildProcess } from 'node:child_process';
import { createContextSigner } from '@almanac/service-kit/caller/call-context';
import { createRpcClient } from '@almanac/service-kit/rpc/client';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';
import { type Call, createCaller } from '@almanac/testkit/calls/call';
import type { TestKeys } from '@almanac/testkit/calls/keys';
import { findFreePort } from '@almanac/testkit/network/ports';
import { endService, spawnService, untilReady } from '@almanac/testkit/processes/service-process';
import { caller, type TableInput, wanted } from './given.ts';

export type DataProcess = {
  child: ChildProcess;
  port: number;
  call: Call;
  metadata: RpcClient<'data'>;
  /** As metadata does, and as patient; for account 1 on branch 1. */
  apply: (id: string, tables: TableInput[]) => Promise<unknown>;
  end: (signal?: NodeJS.Signals) => Promise<void>;
};

/** Starts it and waits until it serves. */
export async function startData(databaseUrl: string, keys: TestKeys): Promise<DataProcess> {
  const [port, rpcPort] = await Promise.all([findFreePort(), findFreePort()]);
  const child = spawnService('data', {
    ...keys.env,
    DATA_HTTP_PORT: String(port),
    DATA_RPC_PORT: String(rpcPort),
    DATA_DATABASE_URL: databaseUrl,
    ALMANAC_BUS_URL: databaseUrl,
    IDENTITY_RPC: '127.0.0.1:9', // machines have no rights to read
    ALMANAC_LOG_LEVEL: 'silent',
  });
  await untilReady('data', child);
  const sign = await createContextSigner('metadata', keys.privateKeys.metadata);
  const rpc = createRpcClient('data', `127.0.0.1:${rpcPort}`, sign);
  return {
    child,
    port,
    metadata: rpc.client,
    call: createCaller(`http://127.0.0.1:${port}`, keys),
    apply: (id, tables) =>
      rpc.client.ApplyDeployment(
        caller,
        { deployment_id: id, branch_id: 1, tables: tables.map(wanted) },
        { deadlineMs: 60_000 },
      ),
    end: async (signal) => {
      rpc.close();
      await endService(child, signal);
    },
  };
}
