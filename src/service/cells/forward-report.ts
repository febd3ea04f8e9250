import type { Cell, CommonAddress } from '../../domain/organizations/cells.ts';

const FORWARD_TIMEOUT_MS = 10_000;

/** The header with the name of the cell that forwards a report. A report with this header is not forwarded again. */
export const FORWARDED = 'charter-forwarded';

type Report = {
  /** The report of leaked keys, as JSON. */
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** The IP address of the client that sent the report. The other cells use it if they trust this server as a proxy. */
  readonly ip: string;
};

/**
 * Forwards a report of leaked keys to the other cells. Each cell revokes the keys that it has. The text of a key may contain the
 * name of another cell, because organizations move. Returns the cells that did not accept the report. Forwarding a report twice
 * does no harm.
 */
export async function forwardReport(
  { cells, own }: Pick<CommonAddress, 'cells' | 'own'>,
  { body, headers, ip }: Report,
): Promise<Cell[]> {
  const send = async (cell: Cell): Promise<Cell[]> => {
    try {
      const response = await fetch(`${cell.url}/report-key`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json', 'X-Forwarded-For': ip, [FORWARDED]: own.name },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
      });
      await response.body?.cancel();
      return response.status === 200 ? [] : [cell];
    } catch {
      return [cell];
    }
  };
  return (await Promise.all(cells.filter(({ name }) => name !== own.name).map(send))).flat();
}
