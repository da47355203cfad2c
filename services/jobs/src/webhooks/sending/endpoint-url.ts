// The URL of an endpoint, as it is checked when it is stored. Sending checks the addresses again:
// a name may lead elsewhere by then.
import type { Problem } from '@almanac/service-kit/problems';
import { isAllowedByOperator, isReachable, type Networks } from './address-rules.ts';
import { addressOf, type Resolve } from './hosts.ts';

/** What sending needs to know of the network. */
export type Reach = { networks: Networks; resolve: Resolve };

/** Characters of a URL. */
export const maxUrlLength = 2_048;

/** The problem of a URL, by its form or the addresses of its host; undefined: it may be used. */
export async function findUrlProblem(text: string, reach: Reach): Promise<Problem | undefined> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return invalid('wrong_format', 'Url must begin with https://');
  if (text.length > maxUrlLength) return invalid('too_long', `Url is too long (maximum is ${maxUrlLength} characters)`);
  if (url.username !== '' || url.password !== '') return invalid('not_allowed', "Url can't contain credentials");
  if (url.hash !== '') return invalid('not_allowed', "Url can't have a fragment");
  if (!isUsualPort(url.port)) return invalid('not_allowed', 'Url may have port 80, 443, or one from 1024 on');
  const addresses = await findAddresses(url, reach);
  // A name that is not in DNS yet, or whose servers are away, is no mistake of the request.
  if (!addresses) return url.protocol === 'http:' ? plainHttp : undefined;
  if (!addresses.every((address) => isReachable(address, reach.networks)))
    return invalid('not_allowed', 'Url leads to an address that webhooks do not reach');
  return mayUse(url, addresses, reach.networks) ? undefined : plainHttp;
}

/** Whether the protocol may be used with these addresses: plain HTTP only where it is allowed. */
export function mayUse(url: URL, addresses: readonly string[], networks: Networks): boolean {
  return url.protocol === 'https:' || addresses.every((address) => isAllowedByOperator(address, networks));
}

// Below 1024 are the services of operating systems, from mail to remote shells.
const isUsualPort = (port: string) => port === '' || port === '80' || port === '443' || Number(port) >= 1024;

const invalid = (code: Problem['code'], message: string): Problem => ({ code, message, field: 'url' });
const plainHttp = invalid('not_allowed', 'Url must begin with https://');

async function findAddresses(url: URL, { resolve }: Reach): Promise<string[] | undefined> {
  const address = addressOf(url);
  if (address !== undefined) return [address];
  return resolve(url.hostname).catch(() => undefined);
}
