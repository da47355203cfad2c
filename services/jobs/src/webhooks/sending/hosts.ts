// The addresses of a host. They are asked of DNS by c-ares: the system's own look-up waits in one
// of few threads, where some silent name servers would block the files and passwords of everybody.
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/** The addresses of a host; rejects when it has none. */
export type Resolve = (host: string) => Promise<string[]>;

const resolver = new Resolver({ timeout: 2_000, tries: 2 });

/** Asks DNS. Names of this machine (RFC 6761) are not asked for. */
export const resolveHost: Resolve = async (host) => {
  if (/(^|\.)localhost\.?$/.test(host)) return ['127.0.0.1'];
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;
  const failed = answers.find((answer) => answer.status === 'rejected');
  throw failed?.reason ?? new Error('The host has no address.');
};

/** The host of a URL as an address, if it is one, without the brackets of IPv6. */
export function addressOf({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) ? bare : undefined;
}
