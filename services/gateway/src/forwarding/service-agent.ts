// The keep-alive connections to a service, over TLS if its URL is https://.
import { Agent } from 'node:http';
import { type RequestOptions, Agent as TlsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import type { PeerCertificate } from 'node:tls';
import { isCertificateOf, type ServiceTls } from '@almanac/service-kit/tls/service-tls';
import type { UpstreamName } from '../config.ts';

/**
 * An agent for the service, which closes connections that were idle for `idleMs`. With `tls` both
 * sides prove their identity by certificate.
 */
export function createServiceAgent(name: UpstreamName, idleMs: number, tls: ServiceTls | undefined): Agent {
  // No limit of connections: `upstreams.ts` limits requests, and nothing would show the agent's
  // queue.
  return tls ? new ServiceTlsAgent(name, idleMs, tls) : new Agent({ keepAlive: true, timeout: idleMs });
}

/** Closes the idle connections. */
export function closeIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

class ServiceTlsAgent extends TlsAgent {
  private readonly service: UpstreamName;
  private readonly tls: ServiceTls;
  /** Opened since an authority was last withdrawn; only these are kept alive. */
  private reusable = new WeakSet<Duplex>();

  constructor(service: UpstreamName, idleMs: number, tls: ServiceTls) {
    // No session cache: a resumed session would outlive the authority that signed its certificate.
    super({ keepAlive: true, timeout: idleMs, maxCachedSessions: 0 });
    this.service = service;
    this.tls = tls;
    tls.onWithdrawal(() => {
      this.reusable = new WeakSet();
      closeIdle(this);
    });
  }

  // Reads the certificate files as they are now. The service's name in the certificate is checked,
  // so the host in its URL may have any name.
  override createConnection(options: RequestOptions, callback?: (error: Error | null, stream: Duplex) => void) {
    const checkServerIdentity = (host: string, certificate: PeerCertificate) =>
      isCertificateOf(this.service, certificate)
        ? undefined
        : new Error(`The certificate of ${host} is not one of ${this.service}.`);
    const secured = { ...options, ...this.tls.secureContext(), checkServerIdentity, rejectUnauthorized: true };
    const socket = super.createConnection(secured, callback);
    if (socket) this.reusable.add(socket);
    return socket;
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return this.reusable.has(socket) && Boolean(super.keepSocketAlive(socket));
  }
}
