// The addresses that webhooks may reach. Their URLs come from customers, so an address inside the
// operator's own network is refused, unless the operator allows it.
import { BlockList, isIP } from 'node:net';

/** Networks that the operator allows besides public addresses. */
export type Networks = BlockList;

// Of IPv4 everything that is not public (IANA's special-purpose registry), and the one public
// address under which a cloud serves metadata to its machines.
const notPublic4 = listOf('ipv4', [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);

// Of IPv6 only global unicast is public. NAT64, IPv4-mapped, unique local, link-local and multicast
// addresses lie outside of it; Teredo, 6to4 and documentation inside.
const global6 = listOf('ipv6', ['2000::/3']);
const notPublic6 = listOf('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);
const mapped4 = listOf('ipv6', ['::ffff:0:0/96']);

/** Whether a webhook may connect to the address. */
export function isReachable(address: string, allowed: Networks): boolean {
  const family = isIP(address);
  if (family === 4) return allowed.check(address, 'ipv4') || !notPublic4.check(address, 'ipv4');
  // A list of IPv4 networks also finds mapped addresses; one with a zone is never public.
  if (family !== 6 || address.includes('%') || mapped4.check(address, 'ipv6')) return false;
  if (allowed.check(address, 'ipv6')) return true;
  return global6.check(address, 'ipv6') && !notPublic6.check(address, 'ipv6');
}

/** Whether the operator has allowed the address by name, so that plain HTTP may go there. */
export function isAllowedByOperator(address: string, allowed: Networks): boolean {
  const family = isIP(address);
  if (family === 4) return allowed.check(address, 'ipv4');
  return family === 6 && !mapped4.check(address, 'ipv6') && allowed.check(address, 'ipv6');
}

/** Reads `10.20.0.0/16, fd00::/8`; undefined when a part is no network. */
export function readNetworks(text: string): Networks | undefined {
  const parts = text.split(',').map((part) => part.trim());
  const list = new BlockList();
  for (const part of parts.filter((part) => part !== '')) {
    const [address = '', bits, ...more] = part.split('/');
    const family = isIP(address);
    if (family === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits ?? '')) return undefined;
    if (Number(bits) > (family === 4 ? 32 : 128)) return undefined;
    list.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

function listOf(family: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}
