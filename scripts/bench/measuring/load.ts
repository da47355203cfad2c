// A small load generator: keep-alive connections, each with one request at a time.
import { Connection } from './connection.ts';

/** The milliseconds of each request, and the seconds of all. */
export type Load = { times: number[]; seconds: number };

type Options = {
  port: number;
  connections: number;
  /** The request of this number. */
  write(number: number): string;
  /** The number of requests, or a condition to stop. */
  requests?: number;
  isOver?(): boolean;
};

/** Runs the load. Throws when an answer isn't 2xx. */
export async function runLoad({
  port,
  connections,
  write,
  requests = Number.POSITIVE_INFINITY,
  isOver = () => false,
}: Options): Promise<Load> {
  const times: number[] = [];
  let sent = 0;
  const pool = Array.from({ length: connections }, () => new Connection(port));
  const work = async (connection: Connection) => {
    while (sent < requests && !isOver()) {
      const request = write(sent);
      sent += 1;
      const at = performance.now();
      await connection.ask(request);
      times.push(performance.now() - at);
    }
  };
  const begun = performance.now();
  try {
    await Promise.all(pool.map(work));
    return { times, seconds: (performance.now() - begun) / 1_000 };
  } finally {
    for (const connection of pool) connection.close();
  }
}
