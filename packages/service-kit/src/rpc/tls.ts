// TLS between services for gRPC: credentials that change while they are in use. grpc-js' own watcher of files isn't used: it
// stops serving while the files don't fit together.
import * as grpc from '@grpc/grpc-js';
import type { ServiceTls } from '../tls/service-tls.ts';

/** For a server, which requires a certificate of its clients. */
export function serverCredentials(tls: ServiceTls): grpc.ServerCredentials {
  const provider = new Provider(tls);
  // Of the two providers the one for the own certificate comes first, whatever its type says; here they are one.
  return grpc.experimental.createCertificateProviderServerCredentials(provider, provider, true);
}

/** For a client, which shows its certificate and checks the server's. */
export function channelCredentials(tls: ServiceTls): grpc.ChannelCredentials {
  const provider = new Provider(tls);
  return grpc.experimental.createCertificateProviderChannelCredentials(provider, provider);
}

type CaListener = grpc.experimental.CaCertificateUpdateListener;
type IdentityListener = grpc.experimental.IdentityCertificateUpdateListener;

// Tells servers and channels what to use. They expect to hear of it later than they ask, never meanwhile.
class Provider implements grpc.experimental.CertificateProvider {
  private readonly tls: ServiceTls;
  private readonly caListeners = new Set<CaListener>();
  private readonly identityListeners = new Set<IdentityListener>();

  constructor(tls: ServiceTls) {
    this.tls = tls;
    tls.onChange(() => {
      for (const listener of this.caListeners) this.tellCa(listener);
      for (const listener of this.identityListeners) this.tellIdentity(listener);
    });
  }

  addCaCertificateListener(listener: CaListener): void {
    this.caListeners.add(listener);
    process.nextTick(() => this.tellCa(listener));
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.caListeners.delete(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.identityListeners.add(listener);
    process.nextTick(() => this.tellIdentity(listener));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.identityListeners.delete(listener);
  }

  private tellCa(listener: CaListener): void {
    listener({ caCertificate: this.tls.secureContext().ca });
  }

  private tellIdentity(listener: IdentityListener): void {
    const { cert, key } = this.tls.secureContext();
    listener({ certificate: cert, privateKey: key });
  }
}
