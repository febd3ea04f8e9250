import type { IncomingMessage } from 'node:http';

/**
 * The address of a request's client, as in Express's `req.ip`, for requests that do not reach the Express application.
 * `isTrusted` is Express's setting "trust proxy fn".
 */
export function clientAddressIn(isTrusted: (address: string, distance: number) => boolean) {
  return ({ socket, headers }: IncomingMessage): string => {
    // Each proxy appends the address that it saw, so only the entries up to the first untrusted address count.
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    const addresses = [socket.remoteAddress ?? '', ...forwarded.map((each) => each.trim()).reverse()];
    const given = addresses.filter((address) => address !== '');
    return given.find((address, distance) => !isTrusted(address, distance)) ?? given.at(-1) ?? '';
  };
}
