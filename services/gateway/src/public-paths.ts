// Paths outside the API that a service answers without a token: the OAuth endpoints and pages of
// identity, the console and its sessions, pre-signed files of jobs, signed messages of the payment
// provider to billing, and the mail folder of jobs for those who try Almanac on their own machine.
// These requests don't count.
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '@almanac/service-kit/http/client-address';
import { consolePrefix } from '@almanac/service-kit/http/path';
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

/** The session of a browser, which the console asks for, confirms and ends. */
const sessionPath: PublicPath = {
  prefix: '/console/session',
  service: 'identity',
  methods: [],
  methodsByPath: { '/console/session': ['GET', 'DELETE'], '/console/session/confirm': ['POST'] },
  keepCredentials: true,
  bodyLimit: 4_096,
};

/** Whether it is an address of the session, which only pages of the console may use. */
export const isSessionPath = (path: string): boolean => Object.hasOwn(sessionPath.methodsByPath ?? {}, path);

/** The console's files and pages. */
const consolePath: PublicPath = {
  prefix: consolePrefix,
  service: 'console',
  methods: ['GET', 'HEAD'],
  keepCredentials: false,
  bodyLimit: 0,
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
export function matchPublicPath(path: string, hasConsole: boolean): PublicPath | undefined {
  if (path.startsWith(consolePrefix)) return hasConsole ? findConsolePath(path) : undefined;
  return publicPaths.find(({ prefix }) => path.startsWith(prefix));
}

const findConsolePath = (path: string) => (isSessionPath(path) ? sessionPath : consolePath);

/**
 * Whether a request with this client address was made on this machine. The host is checked as well:
 * a page of another site, or a proxy on this machine, has a local address but another host.
 */
export function isFromThisMachine({ headers }: IncomingMessage, address: string): boolean {
  return isLoopback(address) && isLoopback(URL.parse(`http://${headers.host}`)?.hostname ?? '');
}
