import { BlockList, isIP } from 'node:net';

/** The targets to which webhooks may be sent, in addition to https:// URLs of the public internet. */
export type WebhookTargets = {
  /** Whether http:// is allowed besides https://. */
  readonly allowHttp: boolean;
  /** Addresses and subnets that are allowed although they are not public, such as "127.0.0.1" or "10.1.0.0/16". */
  readonly allowedNetworks: readonly string[];
};

/**
 * Special-purpose addresses of IPv4 (the IANA registry of RFC 6890), and a public address at which Azure serves its own services.
 */
const FORBIDDEN_IPV4 = blockList([
  '0.0.0.0/8', // "this network"; Linux connects to itself
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by the customers of a provider (CGNAT)
  '127.0.0.0/8', // loopback
  '168.63.129.16', // Azure's services for the virtual machine itself
  '169.254.0.0/16', // link-local, with the metadata of most clouds at 169.254.169.254
  '172.16.0.0/12', // private
  '192.0.0.0/24', // IETF protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
]);

/**
 * The global unicast addresses of IPv6. All other addresses of IPv6 are forbidden, such as loopback, link-local, unique local,
 * multicast, IPv4-mapped and NAT64.
 */
const GLOBAL_UNICAST_IPV6 = blockList(['2000::/3']);
/** Special-purpose addresses within 2000::/3. Some of them contain an address of IPv4. */
const FORBIDDEN_IPV6 = blockList([
  '2001::/23', // IETF protocol assignments, with Teredo, benchmarking and ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
]);

/**
 * Returns whether webhooks and requests to identity providers must not be sent to this IP address. Only global unicast addresses
 * and `allowedNetworks` are allowed.
 */
export function isForbiddenAddress(address: string, allowedNetworks: readonly string[]): boolean {
  const version = isIP(address);
  // An address with a zone, such as fe80::1%eth0, is not a global one.
  if (version === 0 || address.includes('%')) return true;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (blockList(allowedNetworks).check(address, family)) return false;
  if (version === 4) return FORBIDDEN_IPV4.check(address, family);
  return !GLOBAL_UNICAST_IPV6.check(address, family) || FORBIDDEN_IPV6.check(address, family);
}

/** Returns whether the text is an IP address or a subnet such as "10.0.0.0/8". */
export function isNetwork(text: string): boolean {
  const [address = '', bits = '0', ...rest] = text.split('/');
  const version = isIP(address);
  return version !== 0 && /^\d+$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128) && rest.length === 0;
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}
