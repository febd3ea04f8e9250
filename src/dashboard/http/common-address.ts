import type { IncomingMessage } from 'node:http';
import type { CommonAddress } from '../../domain/cells.ts';

/** The address that all cells share, if the request came to it; `null` if it came to the cell's own. */
export function calledCommonAddress(
  { headers }: IncomingMessage,
  { common = null }: { readonly common?: CommonAddress | null | undefined },
): CommonAddress | null {
  return common !== null && headers.host?.toLowerCase() === new URL(common.url).host ? common : null;
}
