// What a cell says about itself: its health at its address, and the rest in its metrics.
import type { Cell } from '../../src/domain/cells.ts';
import { CELL_INFO, CELL_ROWS } from '../../src/observability/metrics/cell-metrics.ts';
import { codeOf, memberOf } from '../../src/store/sql/error-code.ts';

export type CellState = {
  /** READY, or what is wrong. */
  readonly health: string;
  /** Of the server whose metrics were read; `null` if they were not. */
  readonly version: string | null;
  /** By table. */
  readonly rows: Readonly<Record<string, number>>;
};

export const READY = 'ready';

/** Longer than /readyz takes, which is two seconds. */
const TIMEOUT_MS = 5000;
/** Several times what a server of 256 workers sends. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_HEALTH_CHARACTERS = 100;

/** Never rejects: a cell that does not respond is one with a problem. */
export async function stateOf(cell: Cell): Promise<CellState> {
  const [health, measured] = await Promise.all([healthOf(cell), metricsOf(cell)]);
  return { ...measured, health: health === READY && measured.problem !== null ? measured.problem : health };
}

async function healthOf({ url }: Cell): Promise<string> {
  const response = await get(`${url}/readyz`);
  if (typeof response === 'string') return response;
  if (response.status === 200) return READY;
  return statusIn(response.text) ?? `/readyz responds with ${response.status}`;
}

/** The reason in the body of a 503 of /readyz. Another program may have sent it, so it is not printed as it is. */
function statusIn(text: string): string | null {
  try {
    const status = memberOf(JSON.parse(text), 'status');
    return typeof status === 'string' ? status.replaceAll(/\p{C}/gu, '').slice(0, MAX_HEALTH_CHARACTERS) : null;
  } catch {
    return null;
  }
}

type Measured = Pick<CellState, 'version' | 'rows'> & { readonly problem: string | null };

const INFO = new RegExp(`^${CELL_INFO}\\{name="([a-z0-9]+)",version="([\\w.+-]+)"`, 'm');
const ROWS = new RegExp(`^${CELL_ROWS}\\{table="(\\w+)".*\\} (\\d+)$`, 'gm');

async function metricsOf({ name, metricsUrl }: Cell): Promise<Measured> {
  const unknown = { version: null, rows: {} };
  if (metricsUrl === null) return { ...unknown, problem: null };
  const response = await get(metricsUrl);
  if (typeof response === 'string') return { ...unknown, problem: `${READY}, but its metrics: ${response}` };
  const [, measured, version] = INFO.exec(response.text) ?? [];
  if (measured === undefined || version === undefined)
    return { ...unknown, problem: `${READY}, but its metrics are not those of a cell` };
  if (measured !== name) return { ...unknown, problem: `${READY}, but its metrics are those of ${measured}` };
  const rows = [...response.text.matchAll(ROWS)].map(([, table = '', count]) => [table, Number(count)] as const);
  return { version, rows: Object.fromEntries(rows), problem: null };
}

/** The response, or why there is none. No URL is in it, which may contain a password. */
async function get(url: string): Promise<{ readonly status: number; readonly text: string } | string> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { status: response.status, text: await textOf(response) };
  } catch (error) {
    if (memberOf(error, 'name') === 'TimeoutError') return `no response within ${TIMEOUT_MS / 1000} seconds`;
    return `no response (${codeOf(memberOf(error, 'cause')) || 'the request failed'})`;
  }
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('The response is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
