// A small load generator: so many kept-alive connections, each asking again as soon as it was answered.
import { Agent, request } from 'node:http';

type Load = {
  url: string;
  headers: Record<string, string>;
  /** The body for a page that begins at `startRow`. */
  body(startRow: number): string;
  connections: number;
  seconds: number;
};

export type Measured = { perSecond: number; p50: number; p99: number };

const pages = 500; // different windows, so that no answer could be a remembered one by luck

/** Runs the load; any answer but 200 ends it with an error. */
export async function runLoad({ url, headers, body, connections, seconds }: Load): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const begun = performance.now();
  const until = begun + seconds * 1000;
  let sent = 0;
  const one = async () => {
    while (performance.now() < until) {
      const at = performance.now();
      sent += 1;
      await ask(agent, url, headers, body(((sent * 37) % pages) * 20));
      times.push(performance.now() - at);
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, one));
  } finally {
    agent.destroy();
  }
  const elapsed = (performance.now() - begun) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] as number;
  return { perSecond: times.length / elapsed, p50: at(0.5), p99: at(0.99) };
}

function ask(agent: Agent, url: string, headers: Record<string, string>, body: string): Promise<void> {
  return new Promise((done, fail) => {
    const outgoing = request(url, {
      agent,
      method: 'POST',
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
    });
    outgoing.on('error', fail);
    outgoing.on('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        if (answer.statusCode === 200) done();
        else fail(new Error(`${url} answered ${answer.statusCode}: ${Buffer.concat(chunks).toString().slice(0, 500)}`));
      });
    });
    outgoing.end(body);
  });
}
