// The balancer of a service, as a cluster has one: each new connection goes to the next ready
// instance, and open connections stay.
import { connect, createServer, type Socket } from 'node:net';
import { closeAll, listen, pairSockets } from '../network/paired-sockets.ts';
import { findFreePort } from '../network/ports.ts';

/** An instance as its readiness probe sees it, with the last answer to the probe. */
export type Instance = { ports: Record<'http' | 'rpc', number>; isReady: boolean; lastAnswer?: string };

export type Balancer = { port: number; stop(): Promise<void> };

/** Forwards to one of the ports of the instances. Closes new connections while none is ready. */
export async function startBalancer(instances: readonly Instance[], which: keyof Instance['ports']): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer({ noDelay: true }, (client) => {
    const ready = instances.filter(({ isReady }) => isReady);
    turn += 1;
    const chosen = ready[turn % ready.length];
    if (!chosen) {
      client.destroy();
      return;
    }
    const upstream = connect({ port: chosen.ports[which], host: '127.0.0.1', noDelay: true });
    pairSockets(client, upstream, sockets);
    client.pipe(upstream).pipe(client);
  });
  const port = await findFreePort();
  await listen(server, port);
  return {
    port,
    stop: () => closeAll(server, sockets),
  };
}

const probeEveryMs = 50;

const reasonOf = ({ message, cause }: Error) => `${message} (${cause})`;

/** Asks the instance at intervals whether it is ready, as a kubelet does; the result stops it. */
export function probe(instance: Instance): () => void {
  let isStopped = false;
  const ask = async () => {
    if (isStopped) return;
    const answer = await fetch(`http://127.0.0.1:${instance.ports.http}/readyz`, {
      signal: AbortSignal.timeout(20_000),
    }).catch(reasonOf);
    const text = answer instanceof Response ? await answer.text().catch(reasonOf) : answer;
    instance.lastAnswer = `${answer instanceof Response ? answer.status : 'no answer'}: ${text}`;
    instance.isReady = answer instanceof Response && answer.status === 200;
    setTimeout(ask, probeEveryMs).unref();
  };
  void ask();
  return () => {
    isStopped = true;
  };
}
