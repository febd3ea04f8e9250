import { invalidError, readOrigin, type Variable } from './config-values.ts';
import { StartUpError } from './domain/errors.ts';
import { CELL } from './domain/keys/api-key.ts';
import { type Cell, parseCells } from './domain/organizations/cells.ts';

// The environment variables of a cell: an installation that shares an address with other installations.

export type CellConfig = {
  /** The name of this cell, which is part of each key that the cell issues; `null` if the installation is not a cell. */
  readonly cell: string | null;
  /** All cells that serve the shared address; empty if the installation is not a cell. */
  readonly cells: readonly Cell[];
  /** The origin of the address that all cells share; `undefined` if only the API uses that address, or if there are no cells. */
  readonly commonUrl: string | undefined;
  /** The path of the file that maps e-mail domains to cells; `undefined` if there is no such file. */
  readonly cellDomainsFile: string | undefined;
};

export function readCellConfig(variable: Variable): CellConfig {
  return {
    cell: readCell(variable('CHARTER_CELL')),
    cells: readCells(variable('CHARTER_CELLS')),
    commonUrl: readOrigin('COMMON_URL', variable('COMMON_URL')),
    cellDomainsFile: variable('CHARTER_CELL_DOMAINS'),
  };
}

type Checked = CellConfig & { readonly publicUrl: string | undefined };

/** Throws a StartUpError if the variables contradict each other, although each is valid by itself. */
export function requireCells(config: Checked): void {
  requireOwnCell(config);
  requireCommonAddress(config);
}

function readCell(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (!CELL.test(text))
    throw invalidError(
      'CHARTER_CELL',
      text,
      'at most 12 characters of a-z and 0-9 that begin with a letter, such as eu1',
    );
  return text;
}

function readCells(text: string | undefined): readonly Cell[] {
  if (text === undefined) return [];
  const parsed = parseCells(text);
  if (parsed !== null) return parsed;
  const wrong = text.split(',').findIndex((part) => parseCells(part) === null);
  const problem =
    wrong === -1
      ? 'two have the same name or address, or there are too many'
      : `part ${wrong + 1} is not a name, a title and an address, with or without the URL of metrics`;
  // The message does not contain the value, because a URL in it may contain a password.
  throw new StartUpError(
    `CHARTER_CELLS is not a list of cells: ${problem}.`,
    'Separate the cells by commas, such as: eu1 Europe https://eu1.charter.example.org, us1 United States https://us1.charter.example.org',
  );
}

function requireOwnCell({ cell, cells }: CellConfig): void {
  if (cell === null || cells.length === 0 || cells.some(({ name }) => name === cell)) return;
  throw new StartUpError(
    `CHARTER_CELLS does not contain the cell "${cell}", which CHARTER_CELL names.`,
    'Add it, or correct CHARTER_CELL.',
  );
}

/** Checks the settings for the shared address at which people choose their cell. */
function requireCommonAddress({ commonUrl, cellDomainsFile, cell, cells, publicUrl }: Checked): void {
  if (commonUrl === undefined) {
    if (cellDomainsFile === undefined) return;
    throw new StartUpError(
      'CHARTER_CELL_DOMAINS is set, but COMMON_URL is missing.',
      'Set COMMON_URL to the address that all cells share, or unset CHARTER_CELL_DOMAINS.',
    );
  }
  const own = cells.find(({ name }) => name === cell);
  if (own === undefined) {
    throw new StartUpError(
      `COMMON_URL is set, but ${cell === null ? 'CHARTER_CELL' : 'CHARTER_CELLS'} is missing.`,
      'Set CHARTER_CELL to the name of this cell, and CHARTER_CELLS to all cells, or unset COMMON_URL.',
    );
  }
  if (own.url !== publicUrl) {
    throw new StartUpError(
      `CHARTER_CELLS says that the address of the cell ${own.name} is ${own.url}, but PUBLIC_URL is ${publicUrl ?? 'missing'}.`,
      'Set both to the address at which the people of this cell sign in.',
    );
  }
  const other = cells.find(({ url }) => url === commonUrl);
  if (other !== undefined) {
    throw new StartUpError(
      `COMMON_URL is also the address of the cell ${other.name} in CHARTER_CELLS.`,
      'Give each cell an address of its own, at which its people sign in.',
    );
  }
  if (new URL(commonUrl).protocol !== new URL(own.url).protocol) {
    throw new StartUpError(
      'One of COMMON_URL and PUBLIC_URL begins with https://, and the other one with http://.',
      'Use https:// for both.',
    );
  }
}
