// Uploads through the API and to pre-signed URLs have no total time limit while they make progress.
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { useNeighbours } from '../neighbours.ts';

const { services, identity, useGateway } = useNeighbours();
const gateway = useGateway({
  timeouts: { headersMs: 15_000, clientMs: 15_000, readMs: 15_000, writeMs: 15_000, sweepMs: 50 },
});

/** Sends a file for four times the client's timeout, and returns the status. */
async function sendSlowly(path: string, headers: Record<string, string>): Promise<number | undefined> {
  const pieces = 16;
  const piece = Buffer.alloc(2_048, 'x');
  const sending = request(`${gateway.url}${path}`, {
    method: 'PUT',
    headers: { ...headers, 'Content-Length': pieces * piece.length },
  });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    sending.on('response', (answer) => resolve(answer.resume().statusCode));
    sending.on('error', reject);
  });
  answered.catch(() => {});
  for (let sent = 0; sent < pieces && !sending.destroyed; sent += 1) {
    sending.write(piece);
    await sleep(3_750);
  }
  sending.end();
  return answered;
}

it('a slow upload succeeds, through the API and to a pre-signed URL', async () => {
  const authorization = `Bearer ${await identity.token()}`;
  const paths = ['/api/v1/imports/1/tables/1/file', '/files/accounts/1/imports/1-x?signature=x'];
  const statuses = await Promise.all(paths.map((path) => sendSlowly(path, { authorization })));
  expect(statuses).toEqual([200, 200]);
  expect(services.reached.map(({ body }) => body.length)).toEqual([32_768, 32_768]);
});
