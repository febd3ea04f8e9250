import { isIPv4, isIPv6 } from 'node:net';

/**
 * What one customer of a network has: an IPv4 address, or the first 64 bits of an IPv6 one, whose other 64 anybody changes
 * at will (RFC 4291 section 2.5.4). An IPv4 address in IPv6's clothes is itself.
 */
export function networkOf(ip: string): string {
  const address = ip.replace(/%.*$/, '').toLowerCase();
  const mapped = /^::ffff:([\d.]+)$/.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (!isIPv6(address)) return address.slice(0, 45);
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  // Behind the "::" the dotted form of IPv4 stands for two groups.
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = right.length + (tail?.includes('.') === true ? 1 : 0);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - groups);
  const all = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
