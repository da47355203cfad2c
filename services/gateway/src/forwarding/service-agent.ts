// The connections to a service: kept between requests, and by TLS where its URL says so.
import { Agent } from 'node:http';
import { type RequestOptions, Agent as TlsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import type { PeerCertificate } from 'node:tls';
import { isCertificateOf, type ServiceTls } from '@almanac/service-kit/tls/service-tls';
import type { UpstreamName } from '../config.ts';

/** An agent for the service. With `tls` it shows the gateway's certificate and takes none but that service's. */
export function createServiceAgent(name: UpstreamName, tls: ServiceTls | undefined): Agent {
  // There is no bound on connections: requests are bounded, and a queue of the agent's would be unseen.
  return tls ? new ServiceTlsAgent(name, tls) : new Agent({ keepAlive: true });
}

/** Closes the connections without a request. */
export function closeIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

class ServiceTlsAgent extends TlsAgent {
  private readonly service: UpstreamName;
  private readonly tls: ServiceTls;
  /** Made since an authority was last withdrawn. */
  private lasting = new WeakSet<Duplex>();

  constructor(service: UpstreamName, tls: ServiceTls) {
    // A session that is resumed would outlive the authority that vouched for it.
    super({ keepAlive: true, maxCachedSessions: 0 });
    this.service = service;
    this.tls = tls;
    tls.onWithdrawal(() => {
      this.lasting = new WeakSet();
      closeIdle(this);
    });
  }

  // The files are those of this moment. As a service is known by its certificate, the host in its URL may have any name.
  override createConnection(options: RequestOptions, callback?: (error: Error | null, stream: Duplex) => void) {
    const checkServerIdentity = (host: string, certificate: PeerCertificate) =>
      isCertificateOf(this.service, certificate)
        ? undefined
        : new Error(`The certificate of ${host} is not one of ${this.service}.`);
    const secured = { ...options, ...this.tls.secureContext(), checkServerIdentity, rejectUnauthorized: true };
    const socket = super.createConnection(secured, callback);
    if (socket) this.lasting.add(socket);
    return socket;
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return this.lasting.has(socket) && Boolean(super.keepSocketAlive(socket));
  }
}
