import { Resolver } from 'node:dns/promises';
import { codeOf } from '../domain/errors.ts';

/** Finds the IP addresses of a name, at least one. Throws an error if there is none. */
export type ResolveName = (hostname: string) => Promise<string[]>;

const QUERY = { timeout: 3000, tries: 2 };

/**
 * Asks DNS. Not `dns.lookup`, which blocks one of the four threads of the process until the name server responds: the name
 * server belongs to the person who adds the endpoint, and may be slow on purpose. A new resolver each time reads the current
 * /etc/resolv.conf. `servers`: such as "127.0.0.1:53"; by default, those of the system.
 */
export async function resolveName(hostname: string, servers: readonly string[] = []): Promise<string[]> {
  // RFC 6761 section 6.3: every name under "localhost" is the loopback address.
  if (/(^|\.)localhost\.?$/.test(hostname)) return ['127.0.0.1', '::1'];
  const resolver = resolverAt(servers);
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const [failure] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  if (addresses.length === 0) throw failure;
  return addresses;
}

/** The TXT records of a name, each in one piece; none if the name does not exist. Throws an error if DNS fails. */
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
