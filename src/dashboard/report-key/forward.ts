import type { Cell } from '../../domain/cells.ts';
import { forwardReport } from '../../service/cells/forward-report.ts';
import type { RequestContext } from '../http/request-context.ts';

/** Sends the keys to the other cells, if they were reported at the address that cells share. Returns the cells that failed. */
export async function forwardKeys(context: RequestContext, keys: readonly string[]): Promise<Cell[]> {
  return forward(context, { body: JSON.stringify({ keys }) });
}

/** The same for a message as it was sent, whose headers have the signature. */
export async function forward(
  { commonAddress, isForwarded, auditSource }: RequestContext,
  { body, headers = {} }: { readonly body: string | Buffer; readonly headers?: Readonly<Record<string, string>> },
): Promise<Cell[]> {
  return commonAddress === null || isForwarded
    ? []
    : forwardReport(commonAddress, { body, headers, ip: auditSource.ip });
}
