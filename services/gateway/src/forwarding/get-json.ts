// Documents of the services that the gateway reads itself: identity's keys, the parts of the OpenAPI document.
import { once } from 'node:events';
import { type Agent, get, type IncomingMessage } from 'node:http';

const withinMs = 3_000;
const mostBytes = 8 * 1024 * 1024;

/**
 * The JSON at the URL, over a connection of the agent, which decides on TLS. Throws when the answer is not 200, not there after
 * three seconds, or larger than 8 MiB.
 */
export async function getJson(url: string, agent: Agent): Promise<unknown> {
  const request = get(url, { agent, signal: AbortSignal.timeout(withinMs) });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBytes) throw new Error(`${url} answered more than ${mostBytes} bytes.`); // ends the connection
    chunks.push(chunk);
  }
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}.`);
  return JSON.parse(Buffer.concat(chunks).toString());
}
