// gRPC credentials that change while they are in use. grpc-js' own watcher of files isn't used: it
// stops serving while certificate and key don't match.
import * as grpc from '@grpc/grpc-js';
import type { ServiceTls } from '../tls/service-tls.ts';

/** For a server; it requires client certificates. */
export function serverCredentials(tls: ServiceTls): grpc.ServerCredentials {
  const provider = new Provider(tls);
  // The provider of the server's certificate comes first, in spite of the types; here both are one.
  return grpc.experimental.createCertificateProviderServerCredentials(provider, provider, true);
}

/** For a client; it sends its certificate and checks the server's. */
export function channelCredentials(tls: ServiceTls): grpc.ChannelCredentials {
  const provider = new Provider(tls);
  return grpc.experimental.createCertificateProviderChannelCredentials(provider, provider);
}

type CaListener = grpc.experimental.CaCertificateUpdateListener;
type IdentityListener = grpc.experimental.IdentityCertificateUpdateListener;

// Gives servers and channels their certificates. Listeners must be called after they were added,
// not while.
class Provider implements grpc.experimental.CertificateProvider {
  private readonly tls: ServiceTls;
  private readonly caListeners = new Set<CaListener>();
  private readonly identityListeners = new Set<IdentityListener>();

  constructor(tls: ServiceTls) {
    this.tls = tls;
    tls.onChange(() => {
      for (const listener of this.caListeners) this.notifyCa(listener);
      for (const listener of this.identityListeners) this.notifyIdentity(listener);
    });
  }

  addCaCertificateListener(listener: CaListener): void {
    this.caListeners.add(listener);
    process.nextTick(() => this.notifyCa(listener));
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.caListeners.delete(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.identityListeners.add(listener);
    process.nextTick(() => this.notifyIdentity(listener));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.identityListeners.delete(listener);
  }

  private notifyCa(listener: CaListener): void {
    listener({ caCertificate: this.tls.secureContext().ca });
  }

  private notifyIdentity(listener: IdentityListener): void {
    const { cert, key } = this.tls.secureContext();
    listener({ certificate: cert, privateKey: key });
  }
}
