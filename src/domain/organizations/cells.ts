import { CELL } from '../keys/api-key.ts';

/** A cell: one of several complete installations that share an address. The variable CHARTER_CELLS describes all of them. */
export type Cell = {
  /** The name that the keys of the cell contain. */
  readonly name: string;
  /** The name that people see, such as "United States". */
  readonly title: string;
  /** The origin of the cell's own dashboard and API, which is its PUBLIC_URL. */
  readonly url: string;
  /**
   * The URL at which one of the cell's servers serves metrics; `null` if it is not configured. Only the operator's commands use
   * the URL.
   */
  readonly metricsUrl: string | null;
};

const MAX_CELLS = 100;
const ENTRY = /^(\S+)\s+(\S.*?)\s+(https?:\/\/\S+?)(?:\s+(https?:\/\/\S+))?$/;

/**
 * Parses "name title address" entries that are separated by commas, such as "eu1 Europe https://eu1.example.org". The URL of the
 * cell's metrics may follow the address. Returns `null` if the text is malformed, or two cells have the same name or address.
 */
export function parseCells(text: string): readonly Cell[] | null {
  const entries = text.split(',').map((entry) => parseCell(entry.trim()));
  const cells = entries.filter((entry) => entry !== null);
  const isDistinct = (of: (cell: Cell) => string) => new Set(cells.map(of)).size === cells.length;
  const isValid = cells.length === entries.length && cells.length <= MAX_CELLS;
  return isValid && isDistinct(({ name }) => name) && isDistinct(({ url }) => url) ? cells : null;
}

function parseCell(entry: string): Cell | null {
  const [, name = '', title = '', address = '', metrics] = ENTRY.exec(entry) ?? [];
  const url = originOf(address);
  if (!CELL.test(name) || url === null) return null;
  if (metrics === undefined) return { name, title, url, metricsUrl: null };
  if (!URL.canParse(metrics)) return null;
  const { username, password, href } = new URL(metrics);
  return username + password === '' ? { name, title, url, metricsUrl: href } : null;
}

function originOf(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.href === `${url.origin}/` ? url.origin : null;
}

/** The address that several cells share, and what a server knows about the cells. A request to the address can reach any cell. */
export type CommonAddress = {
  /** The origin of the address. */
  readonly url: string;
  readonly cells: readonly Cell[];
  /** The cell of this server. */
  readonly own: Cell;
  /** The path of the file that maps e-mail domains to cells; `null` if there is none. */
  readonly domainsFile: string | null;
};

type Configured = {
  readonly commonUrl?: string | undefined;
  readonly cellDomainsFile?: string | undefined;
  readonly cell?: string | null | undefined;
  readonly cells?: readonly Cell[];
};

/** Returns the address that the cells share; `null` if there is none. */
export function commonAddressOf({ commonUrl, cellDomainsFile, cell, cells = [] }: Configured): CommonAddress | null {
  const own = cells.find(({ name }) => name === cell);
  if (commonUrl === undefined || own === undefined) return null;
  return { url: commonUrl, cells, own, domainsFile: cellDomainsFile ?? null };
}
