import { isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';

/**
 * An address with a port, which some proxies add to X-Forwarded-For, such as "192.0.2.7:1234", "[2001:db8::5]:1234" or
 * "::ffff:192.0.2.7:1234".
 */
const WITH_PORT = /^(?:\[([^\]]+)\]|((?:[\da-f:]*:)?[\d.]+\.\d+))(?::\d+)?$/i;
/** The first 96 bits of an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2). */
const MAPPED_GROUPS = [0, 0, 0, 0, 0, 0xffff];
const MAPPED_BITS = 96;

/**
 * Returns the address in a text without a port and a zone, in the form of RFC 5952. An IPv4-mapped IPv6 address is returned as an
 * IPv4 address. Returns `null` if the text is not an address.
 */
export function addressIn(text: string): string | null {
  const address = withoutPort(text);
  if (isIPv4(address)) return address;
  return isIPv6(address) ? textOf(groupsOf(address)) : null;
}

/**
 * Returns the network that an Internet provider assigns to one customer, in canonical form: an IPv4 address, or the first 64 bits
 * of an IPv6 address, because a customer can change the other 64 bits at will (RFC 4291 section 2.5.4). An IPv4-mapped IPv6
 * address is treated as an IPv4 address.
 */
export function networkOf(ip: string): string {
  const address = withoutPort(ip).toLowerCase();
  if (!isIPv6(address)) return address.slice(0, 45);
  const groups = groupsOf(address);
  return isMapped(groups) ? textOf(groups) : `${textOf([...groups.slice(0, 4), 0, 0, 0, 0])}/64`;
}

/**
 * Returns an address or a subnet in canonical form: "10.1.2.3/8" as "10.0.0.0/8", "2001:DB8:0::1/128" as "2001:db8::1", and
 * IPv4-mapped IPv6 as IPv4. Returns `null` if the text is neither an address nor a subnet.
 */
export function canonicalNetwork(text: string): string | null {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return null;
  const size = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? size : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (!(prefix <= size)) return null;
  const prefixOfIPv6 = 128 - size + prefix;
  const groups = groupsOf(version === 4 ? `::ffff:${address}` : address).map((group, i) => {
    const kept = Math.min(16, Math.max(0, prefixOfIPv6 - 16 * i));
    return group & (0xffff << (16 - kept)) & 0xffff;
  });
  const canonical = textOf(groups);
  if (prefixOfIPv6 === 128) return canonical;
  return `${canonical}/${isMapped(groups) ? prefixOfIPv6 - MAPPED_BITS : prefixOfIPv6}`;
}

function withoutPort(text: string): string {
  const [, bracketed, dotted] = WITH_PORT.exec(text) ?? [];
  return (bracketed ?? dotted ?? text).replace(/%.*$/, '');
}

/** Returns the eight groups of an IPv6 address as numbers. */
function groupsOf(address: string): number[] {
  const hexadecimal = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
    return `${hexOf(256 * a + b)}:${hexOf(256 * c + d)}`;
  });
  const [left = [], right = []] = hexadecimal
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))));
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

function isMapped(groups: readonly number[]): boolean {
  return MAPPED_GROUPS.every((group, i) => groups[i] === group);
}

function textOf(groups: readonly number[]): string {
  const [high = 0, low = 0] = groups.slice(6);
  if (isMapped(groups)) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  return new SocketAddress({ address: groups.map(hexOf).join(':'), family: 'ipv6' }).address;
}

function hexOf(group: number): string {
  return group.toString(16);
}
