// Fetches documents that the gateway itself needs: identity's keys, the services' OpenAPI
// documents.
import { once } from 'node:events';
import { type Agent, get, type IncomingMessage } from 'node:http';

const maxBytes = 8 * 1024 * 1024;

/**
 * Fetches the JSON at the URL over the agent, which decides on TLS. Throws when the answer is not
 * 200, takes longer than `timeoutMs`, or is larger than 8 MiB.
 */
export async function getJson(url: string, agent: Agent, { timeoutMs = 3_000 } = {}): Promise<unknown> {
  const request = get(url, { agent, signal: AbortSignal.timeout(timeoutMs) });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`${url} answered more than ${maxBytes} bytes.`); // closes the connection
    chunks.push(chunk);
  }
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}.`);
  return JSON.parse(Buffer.concat(chunks).toString());
}
