import type { Cell, CommonAddress } from '../../domain/organizations/cells.ts';

const FORWARD_TIMEOUT_MS = 10_000;

/** Names the cell that has sent a report on. A report that has it is not sent on again, or cells could do so for ever. */
export const FORWARDED = 'charter-forwarded';

type Report = {
  /** JSON, as programs send it. */
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the client. The other cells believe it if they trust this server. */
  readonly ip: string;
};

/**
 * Sends a report of leaked keys on to the other cells, each of which revokes those that it has: a key can be in another cell than
 * the one that it names, because organizations move. Returns the cells that did not accept the report. It can be repeated.
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
