import { isIPv4, isIPv6 } from 'node:net';

/** An address with a port, which some proxies append in X-Forwarded-For: "192.0.2.7:1234" or "[2001:db8::5]:1234". */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/;

/**
 * The network that one customer of a provider has: an IPv4 address, or the first 64 bits of an IPv6 address, because a customer
 * can change the other 64 at will (RFC 4291 section 2.5.4). An IPv4-mapped IPv6 address counts as IPv4.
 */
export function networkOf(ip: string): string {
  const [, bracketed, dotted] = WITH_PORT.exec(ip) ?? [];
  const address = (bracketed ?? dotted ?? ip).replace(/%.*$/, '').toLowerCase();
  const mapped = /^::ffff:([\d.]+)$/.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (!isIPv6(address)) return address.slice(0, 45);
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  // After "::", the dotted form of IPv4 stands for two groups.
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = right.length + (tail?.includes('.') === true ? 1 : 0);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - groups);
  const all = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
