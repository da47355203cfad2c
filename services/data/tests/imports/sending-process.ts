// Loads a file into a table as jobs does, from a process of its own that is to be killed while it
// sends. Started with the address of data, its key, the load's messages but the bytes, and how many
// rows to send; SIGTERM aborts the call.
import { setTimeout as sleep } from 'node:timers/promises';
import { createContextSigner } from '@almanac/service-kit/caller/call-context';
import { createRpcClient } from '@almanac/service-kit/rpc/client';

const { address, key, caller, options, rows, name } = JSON.parse(process.argv[2] as string);
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());

async function* messages() {
  yield { options };
  for (let row = 0; row < rows; row += 1) {
    yield { chunk: Buffer.from(`k${row},${name},,\n`) };
    if (row === 0) process.send?.('sending');
    if (row % 50 === 0) await sleep(1);
  }
}

const data = createRpcClient('data', address, await createContextSigner('jobs', key));
try {
  const { status } = await data.client.BulkLoad(caller, messages(), { signal: stop.signal });
  process.send?.(status);
} catch {
  process.send?.('failed');
}
process.exit();
