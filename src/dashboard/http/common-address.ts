import type { IncomingMessage } from 'node:http';
import type { CommonAddress } from '../../domain/cells.ts';

/** The address that all cells share, if the request came to it; `null` if it came to the cell's own. */
export function calledCommonAddress(
  { headers }: IncomingMessage,
  { common = null }: { readonly common?: CommonAddress | null | undefined },
): CommonAddress | null {
  if (common === null || headers.host === undefined) return null;
  const { protocol, origin } = new URL(common.url);
  // A client may send the default port, and the name in any letter case.
  const called = URL.parse(`${protocol}//${headers.host}`);
  return called?.origin === origin ? common : null;
}
