import { Resolver } from 'node:dns/promises';
import { codeOf } from '../domain/errors.ts';

/** Returns the IP addresses of a host name, at least one. Throws if there is none. */
export type ResolveName = (hostname: string) => Promise<string[]>;

const QUERY = { timeout: 3000, tries: 2 };

/**
 * Returns the addresses of a host name by DNS queries. `dns.lookup` is not used, because it blocks one of the four threads of the
 * process until the name server responds. The name server may belong to the person who added the endpoint, and may be slow on
 * purpose. Each call uses a new resolver, which reads the current /etc/resolv.conf. `servers`, such as "127.0.0.1:53", replace
 * the name servers of the system.
 */
export async function resolveName(hostname: string, servers: readonly string[] = []): Promise<string[]> {
  // Every name under "localhost" stands for the loopback address (RFC 6761 section 6.3).
  if (/(^|\.)localhost\.?$/.test(hostname)) return ['127.0.0.1', '::1'];
  const resolver = resolverAt(servers);
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const [failure] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  if (addresses.length === 0) throw failure;
  return addresses;
}

/**
 * Returns the TXT records of a name, each as one string; an empty array if the name does not exist. Throws if the DNS query
 * fails.
 */
export async function resolveTxt(name: string, servers: readonly string[] = []): Promise<string[]> {
  const records = await resolverAt(servers)
    .resolveTxt(name)
    .catch((error: unknown) => {
      if (/^(ENOTFOUND|ENODATA)$/.test(codeOf(error))) return [];
      throw error;
    });
  return records.map((pieces) => pieces.join(''));
}

function resolverAt(servers: readonly string[]): Resolver {
  const resolver = new Resolver(QUERY);
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}
