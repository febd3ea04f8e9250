import { BlockList, isIPv4 } from 'node:net';
import { invalidField } from '../errors.ts';
import { canonicalNetwork } from '../network.ts';
import { formatNumber } from '../text.ts';

/** The addresses and subnets from which a key may be used, in canonical form; empty if the key may be used from any address. */
export type AddressList = readonly string[];

export const MAX_ALLOWED_ADDRESSES = 50;
const MAX_SHOWN_MISTAKES = 5;
const MAX_SHOWN_CHARACTERS = 60;

/**
 * Parses addresses and subnets that are separated by line breaks, spaces or commas, and removes duplicates. Throws "invalid" if
 * some entries are invalid. The error has a message for each of the first invalid entries, with the number of its line, and the
 * number of the other invalid entries.
 */
export function parseAddressList(text: string, field: string): AddressList {
  const networks = new Set<string>();
  const mistakes: string[] = [];
  for (const [i, line] of text.split(/\r\n|\n|\r/).entries()) {
    for (const entry of line.split(/[\s,;]+/).filter((each) => each !== '')) {
      const network = canonicalNetwork(entry);
      if (network === null) mistakes.push(`has a mistake in line ${i + 1}: ${mistakeIn(entry)}`);
      else networks.add(network);
    }
  }
  if (mistakes.length > 0) {
    const others = mistakes.length - MAX_SHOWN_MISTAKES;
    const more = others > 0 ? [`has ${formatNumber(others)} more ${others === 1 ? 'mistake' : 'mistakes'}.`] : [];
    throw invalidField(field, ...mistakes.slice(0, MAX_SHOWN_MISTAKES), ...more);
  }
  if (networks.size > MAX_ALLOWED_ADDRESSES)
    throw invalidField(
      field,
      `must have at most ${MAX_ALLOWED_ADDRESSES} entries, not ${networks.size}. Combine neighbouring addresses into a subnet.`,
    );
  return [...networks];
}

function mistakeIn(entry: string): string {
  const shown = `“${entry.length > MAX_SHOWN_CHARACTERS ? `${entry.slice(0, MAX_SHOWN_CHARACTERS)}…` : entry}”`;
  const [address = '', bits] = entry.split('/');
  if (address.includes('%')) return `${shown} has a zone. Leave out the part from “%” on.`;
  if (bits !== undefined && canonicalNetwork(address) !== null)
    return `${shown} has no valid prefix length. Write a number from 0 to ${isIPv4(address) ? 32 : 128} after the slash.`;
  return `${shown} is no IP address or subnet. Write one such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32.`;
}

/** The parsed form of each list, cached so that a list is not parsed for every request. */
const parsed = new Map<string, AddressSet>();
const MAX_PARSED = 1000;

/** Returns whether the address, a result of `addressIn`, is in the list. The entries of `list` are separated by spaces. */
export function isInList(list: string, address: string | null): boolean {
  if (address === null) return false;
  let set = parsed.get(list);
  if (set === undefined) {
    set = new AddressSet(list.split(' '));
    if (parsed.size >= MAX_PARSED) parsed.clear();
    parsed.set(list, set);
  }
  return set.has(address);
}

/** Returns the networks that no entry of the list contains completely. An empty list contains all networks. */
export function networksOutside(list: AddressList, networks: readonly string[]): string[] {
  if (list.length === 0) return [];
  return networks.filter((network) => {
    const { address, prefix } = partsOf(network);
    return !new AddressSet(list.filter((entry) => partsOf(entry).prefix <= prefix)).has(address);
  });
}

/**
 * A set of addresses and subnets. It consists of two lists, because a single BlockList would find IPv4 addresses in IPv6 subnets
 * such as "::/0".
 */
class AddressSet {
  readonly #ipv4 = new BlockList();
  readonly #ipv6 = new BlockList();

  constructor(networks: Iterable<string>) {
    for (const network of networks) {
      const { address, prefix } = partsOf(network);
      if (isIPv4(address)) this.#ipv4.addSubnet(address, prefix, 'ipv4');
      else this.#ipv6.addSubnet(address, prefix, 'ipv6');
    }
  }

  has(address: string): boolean {
    return isIPv4(address) ? this.#ipv4.check(address, 'ipv4') : this.#ipv6.check(address, 'ipv6');
  }
}

function partsOf(network: string): { readonly address: string; readonly prefix: number } {
  const [address = '', bits] = network.split('/');
  return { address, prefix: bits === undefined ? (isIPv4(address) ? 32 : 128) : Number(bits) };
}
