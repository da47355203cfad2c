// Paths outside the API that a service answers without a token: the OAuth endpoints and pages of
// identity, pre-signed files of jobs, signed messages of the payment provider to billing, and the
// mail folder of jobs for those who try Almanac on their own machine. These requests don't count.
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '@almanac/service-kit/http/client-address';
import { limits } from '@almanac/service-kit/limits';
import type { UpstreamName } from './config.ts';

export const oauthPrefix = '/oauth/';

export type PublicPath = {
  /** All paths that begin with it. */
  prefix: string;
  service: UpstreamName;
  /** Of all paths that are not in `methodsByPath`. */
  methods: string[];
  methodsByPath?: Record<string, string[]>;
  keepCredentials: boolean;
  /** The largest body, in bytes. */
  bodyLimit: number;
  /** Only for requests from this machine; 404 for all others. */
  isLocal?: boolean;
};

const publicPaths: PublicPath[] = [
  {
    prefix: oauthPrefix,
    service: 'identity',
    methods: ['GET', 'HEAD', 'POST'],
    methodsByPath: {
      '/oauth/token': ['POST'],
      '/oauth/revoke': ['POST'],
      '/oauth/introspect': ['POST'],
      '/oauth/style.css': ['GET', 'HEAD'],
    },
    keepCredentials: true,
    bodyLimit: 65_536,
  },
  { prefix: '/.well-known/', service: 'identity', methods: ['GET', 'HEAD'], keepCredentials: false, bodyLimit: 0 },
  {
    prefix: '/files/',
    service: 'jobs',
    methods: ['GET', 'HEAD', 'PUT'],
    keepCredentials: false,
    bodyLimit: limits.uploadBytes,
  },
  {
    prefix: '/webhooks/payments',
    service: 'billing',
    methods: ['POST'],
    keepCredentials: false,
    bodyLimit: limits.webhookBytes,
  },
  {
    prefix: '/dev/mail',
    service: 'jobs',
    methods: ['GET', 'HEAD'],
    keepCredentials: false,
    bodyLimit: 0,
    isLocal: true,
  },
];

/** The entry for a path outside the API, if a service answers it. */
export function matchPublicPath(path: string): PublicPath | undefined {
  return publicPaths.find(({ prefix }) => path.startsWith(prefix));
}

/**
 * Whether a request with this client address was made on this machine. The host is checked as well:
 * a page of another site, or a proxy on this machine, has a local address but another host.
 */
export function isFromThisMachine({ headers }: IncomingMessage, address: string): boolean {
  return isLoopback(address) && isLoopback(URL.parse(`http://${headers.host}`)?.hostname ?? '');
}
