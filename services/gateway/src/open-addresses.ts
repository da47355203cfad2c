// Addresses outside the API that a service answers by itself: the OAuth endpoints and pages of identity, pre-signed files of
// jobs, signed messages of the payment provider to billing, and the mail folder of jobs for those who try Almanac on their
// own machine. No token is asked for and nothing is counted.
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '@almanac/service-kit/http/client-address';
import { limits } from '@almanac/service-kit/limits';
import type { UpstreamName } from './config.ts';

export const oauthPrefix = '/oauth/';

export type OpenAddress = {
  /** Of every address below it. */
  prefix: string;
  service: UpstreamName;
  /** Of all but those in `own`. */
  methods: string[];
  /** Addresses that take others. */
  own?: Record<string, string[]>;
  keepCredentials: boolean;
  limit: number;
  /** Only for this machine itself; for all others there is nothing there. */
  isLocal?: boolean;
};

const openAddresses: OpenAddress[] = [
  {
    prefix: oauthPrefix,
    service: 'identity',
    methods: ['GET', 'HEAD', 'POST'],
    own: {
      '/oauth/token': ['POST'],
      '/oauth/revoke': ['POST'],
      '/oauth/introspect': ['POST'],
      '/oauth/style.css': ['GET', 'HEAD'],
    },
    keepCredentials: true,
    limit: 65_536,
  },
  { prefix: '/.well-known/', service: 'identity', methods: ['GET', 'HEAD'], keepCredentials: false, limit: 0 },
  {
    prefix: '/files/',
    service: 'jobs',
    methods: ['GET', 'HEAD', 'PUT'],
    keepCredentials: false,
    limit: limits.uploadBytes,
  },
  {
    prefix: '/webhooks/payments',
    service: 'billing',
    methods: ['POST'],
    keepCredentials: false,
    limit: limits.webhookBytes,
  },
  { prefix: '/dev/mail', service: 'jobs', methods: ['GET', 'HEAD'], keepCredentials: false, limit: 0, isLocal: true },
];

/** What answers a path outside the API, if a service does. */
export function findOpenAddress(path: string): OpenAddress | undefined {
  return openAddresses.find(({ prefix }) => path.startsWith(prefix));
}

/**
 * Whether a request with this client address was made on this machine. A page of another site, or a proxy on this machine,
 * comes from a local address too, but asks for another host.
 */
export function isFromHere({ headers }: IncomingMessage, address: string): boolean {
  return isLoopback(address) && isLoopback(URL.parse(`http://${headers.host}`)?.hostname ?? '');
}
