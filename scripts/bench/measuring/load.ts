// A small load generator: so many kept-alive connections, each asking again as soon as it was answered.
import { Connection } from './connection.ts';

/** Milliseconds of each request, and seconds of them all. */
export type Load = { times: number[]; seconds: number };

type Options = {
  port: number;
  connections: number;
  /** The request of this number, as it goes over the wire. */
  write(number: number): string;
  /** Ends after so many requests, or when this says so. */
  requests?: number;
  isOver?(): boolean;
};

/** Runs the load; any answer that isn't 2xx ends it with an error. */
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
