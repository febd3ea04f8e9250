import type { AddressInfo } from 'node:net';

export function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('It does not listen on a port.');
  return address.port;
}
