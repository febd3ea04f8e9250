import { CELL } from '../keys/api-key.ts';

/** One of several whole installations that serve one address, as CHARTER_CELLS describes it. */
export type Cell = {
  /** The name that the keys of the cell contain. */
  readonly name: string;
  /** What people call it, such as "United States". */
  readonly title: string;
  /** The origin at which its people sign in, and its servers respond: its PUBLIC_URL. */
  readonly url: string;
  /** Where one of its servers serves metrics. Only the operator's commands use it. `null` if it is not given. */
  readonly metricsUrl: string | null;
};

const MAX_CELLS = 100;
const ENTRY = /^(\S+)\s+(\S.*?)\s+(https?:\/\/\S+?)(?:\s+(https?:\/\/\S+))?$/;

/**
 * Reads "name title address", several separated by commas, such as "eu1 Europe https://eu1.example.org". After the address, the
 * URL of its metrics may follow. Returns `null` for anything else, and if two cells share a name or an address.
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

/** The address that several cells share, as a server of one of them knows it. Requests to it reach any of them. */
export type CommonAddress = {
  /** The origin of the address. */
  readonly url: string;
  readonly cells: readonly Cell[];
  /** The cell of this server. */
  readonly own: Cell;
  /** The path of the file that says which e-mail domains are in which cell; `null` if there is none. */
  readonly domainsFile: string | null;
};

type Configured = {
  readonly commonUrl?: string | undefined;
  readonly cellDomainsFile?: string | undefined;
  readonly cell?: string | null | undefined;
  readonly cells?: readonly Cell[];
};

/** `null` if there is no such address. */
export function commonAddressOf({ commonUrl, cellDomainsFile, cell, cells = [] }: Configured): CommonAddress | null {
  const own = cells.find(({ name }) => name === cell);
  if (commonUrl === undefined || own === undefined) return null;
  return { url: commonUrl, cells, own, domainsFile: cellDomainsFile ?? null };
}
