import type { Command } from 'commander';
import { codeOf, DomainError, memberOf } from '../../src/domain/errors.ts';
import type { Cell } from '../../src/domain/organizations/cells.ts';
import { RELEASE_VERSION, readReleases } from '../../src/domain/release.ts';
import { CELL_INFO, CELL_ROWS } from '../../src/observability/metrics/app-metrics.ts';
import { listDomainsOfCell, listKeysOfOtherCells } from '../../src/store/organizations/cells.ts';
import { writeWhole } from './archive-commands.ts';
import type { Context } from './context.ts';

export function addCellCommands(program: Command, { config, execute, print, warn }: Context): void {
  const cellOf = (command: Command) =>
    config.cell ?? command.error('error: CHARTER_CELL is not set, so this installation is not a cell');
  program
    .command('cells')
    .description(
      'list the cells of CHARTER_CELLS with their health, version and rows; exit with 1 unless all are ready',
    )
    .action(async (_options: object, command: Command) => {
      const { cells } = config;
      if (cells.length === 0) return command.error('error: CHARTER_CELLS is not set: there are no cells');
      const states = await Promise.all(cells.map(fetchState));
      print({ cells: cells.map((cell, i) => rowOf(cell, states[i])) });
      const versions = new Set(states.flatMap(({ version }) => version ?? []));
      const warning = versionWarning(versions, readReleases());
      if (warning !== null) warn(warning);
      const ill = cells.filter((_, i) => states[i]?.health !== READY).map(({ name }) => name);
      if (ill.length > 0) throw new DomainError('unavailable', `Not all cells are ready: ${ill.join(', ')}.`);
    });

  program
    .command('moved-keys')
    .description(
      'write the SHA-256 of each key that was issued elsewhere, with the name of this cell, for the map of HAProxy',
    )
    .requiredOption('--file <path>', 'is replaced once the list is complete')
    .action(({ file }: { file: string }, command: Command) => {
      const cell = cellOf(command);
      return execute(async (db) => ({ keys: await writeMap(file, cell, listKeysOfOtherCells(db, cell)), file }));
    });

  program
    .command('cell-domains')
    .description('write each verified e-mail domain with the name of this cell, for CHARTER_CELL_DOMAINS')
    .requiredOption('--file <path>', 'is replaced once the list is complete')
    .action(({ file }: { file: string }, command: Command) => {
      const cell = cellOf(command);
      return execute(async (db) => ({ domains: await writeMap(file, cell, listDomainsOfCell(db)), file }));
    });
}

/** Writes a line for each text. The line contains the text and the name of the cell. Returns the number of lines. */
async function writeMap(path: string, cell: string, chunks: AsyncIterable<readonly string[]>): Promise<number> {
  return writeWhole(path, { isExclusive: false }, async ({ write, publish }) => {
    let count = 0;
    for await (const texts of chunks) {
      await write(texts.map((text) => `${text} ${cell}\n`).join(''));
      count += texts.length;
    }
    await publish();
    return count;
  });
}

function rowOf({ name }: Cell, state: CellState | undefined) {
  const { organizations = null, parent_programs: programs = null, events = null } = state?.rows ?? {};
  return { cell: name, health: state?.health, version: state?.version ?? null, organizations, programs, events };
}

// The state of a cell: its health according to `/readyz`, and its version and row counts according to its metrics.

type CellState = {
  /** `READY`, or a description of the problem. */
  readonly health: string;
  /** The version in the cell's metrics; `null` if the metrics could not be read. */
  readonly version: string | null;
  readonly rows: Readonly<Record<string, number>>;
};

const READY = 'ready';

/** The time limit for a response. /readyz responds within two seconds. */
const TIMEOUT_MS = 5000;
/** The maximum size of a response. It is several times the size of the metrics of a server with 256 workers. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_HEALTH_CHARACTERS = 100;

/** Returns the state of a cell. Never rejects; if the cell does not respond, `health` describes the problem. */
async function fetchState(cell: Cell): Promise<CellState> {
  const [health, measured] = await Promise.all([fetchHealth(cell), fetchMetrics(cell)]);
  return { ...measured, health: health === READY && measured.problem !== null ? measured.problem : health };
}

async function fetchHealth({ url }: Cell): Promise<string> {
  const response = await get(`${url}/readyz`);
  if (typeof response === 'string') return response;
  if (response.status === 200) return READY;
  return statusIn(response.text) ?? `/readyz responds with ${response.status}`;
}

/**
 * Returns the reason in the body of a 503 from /readyz. Removes control characters and limits the length, because another program
 * may have sent the response.
 */
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

async function fetchMetrics({ name, metricsUrl }: Cell): Promise<Measured> {
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

/** Returns the response, or the reason why there is none. The reason does not contain the URL, which may contain a password. */
async function get(url: string): Promise<{ readonly status: number; readonly text: string } | string> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { status: response.status, text: await fetchText(response) };
  } catch (error) {
    if (memberOf(error, 'name') === 'TimeoutError') return `no response within ${TIMEOUT_MS / 1000} seconds`;
    return `no response (${codeOf(memberOf(error, 'cause')) || 'the request failed'})`;
  }
}

async function fetchText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('The response is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Returns a warning for the operator if the versions of the cells are more than one release apart, otherwise `null`. `releases`
 * begins with the newest release.
 */
export function versionWarning(versions: ReadonlySet<string>, releases: readonly string[]): string | null {
  if (versions.size < 2) return null;
  const places = [...versions].map((version) => releases.indexOf(version));
  const list = [...versions].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).join(', ');
  if (places.includes(-1))
    return `The cells have the versions ${list}, not all of which this command of version ${RELEASE_VERSION} knows. Run that of the newest one.`;
  return Math.max(...places) - Math.min(...places) < 2
    ? null
    : `The versions of the cells differ by more than one release: ${list}. Upgrade the oldest one, one release at a time.`;
}
