import type { IncomingMessage } from 'node:http';
import { addressIn } from './domain/network.ts';

/** Express's setting "trust proxy fn": whether the address is one of a trusted proxy. A connection that was reset has none. */
export type IsTrusted = (address: string | undefined, distance: number) => boolean;

/** Asks about the address in a text, because some proxies append a port, and a socket of IPv6 has IPv4-mapped addresses. */
export function trustedAddressIn(isTrusted: IsTrusted): IsTrusted {
  return (text, distance) => {
    const address = text === undefined ? null : addressIn(text);
    return address !== null && isTrusted(address, distance);
  };
}

/**
 * The address of a request's client, for every part of the server: as `addressIn` returns it, or the text that a trusted proxy
 * has sent instead of an address, such as "unknown". Empty if the client has already closed the connection.
 */
export function clientAddressIn(isTrusted: IsTrusted) {
  return ({ socket, headers }: IncomingMessage): string => {
    // The attack: a client that nobody trusts sends the header and closes the connection, so that only the header is left.
    if (socket.remoteAddress === undefined) return '';
    // Each proxy appends the address that it saw, so only the entries up to the first untrusted address count.
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    const texts = [socket.remoteAddress, ...forwarded.map((each) => each.trim()).reverse()];
    const given = texts.filter((text) => text !== '');
    const client = given.find((text, distance) => !isTrusted(text, distance)) ?? given.at(-1) ?? '';
    return addressIn(client) ?? client;
  };
}
