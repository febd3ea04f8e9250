import { readFile } from 'node:fs/promises';
import { codeOf } from '../../domain/errors.ts';
import type { Cell } from '../../domain/organizations/cells.ts';
import { domainOfEmail, parseDomain } from '../../domain/people/email.ts';
import { catchInvalid } from '../outcome.ts';

/**
 * Returns the cell that the map has for the domain of the e-mail, or `null` if the map has no cell or several cells for the
 * domain. The result depends on the domain only, so that nobody can learn which e-mails have an account. The file is read on each
 * call, because operators replace it, and few requests need it.
 */
export async function findCellForEmail(place: DomainMapPlace, email: string): Promise<Cell | null> {
  const { cells } = await readDomainMap(place);
  const [cell = null, ...others] = new Set(cells.get(domainOfEmail(email)));
  return others.length === 0 ? cell : null;
}

// The environment variable CHARTER_CELL_DOMAINS is the path of a file. Each line of the file consists of an e-mail domain and the
// name of a cell, such as "acme.example us1".

export type DomainMap = {
  /** The cells of each domain. Organizations in different cells can have verified the same domain. */
  readonly cells: ReadonlyMap<string, readonly Cell[]>;
  /** A message about the first line that is ignored, and why; `null` if no line is ignored. */
  readonly problem: string | null;
};

export type DomainMapPlace = { readonly domainsFile: string; readonly cells: readonly Cell[] };

const LINE = /^(\S+)\s+(\S+)$/;

/** Reads and parses the file. Throws an error that names the environment variable if the file cannot be read. */
export async function readDomainMap({ domainsFile, cells }: DomainMapPlace): Promise<DomainMap> {
  const text = await readFile(domainsFile, 'utf8').catch((error: unknown) => {
    throw new Error(`CHARTER_CELL_DOMAINS is ${JSON.stringify(domainsFile)}, which cannot be read (${codeOf(error)}).`);
  });
  const found = new Map<string, Cell[]>();
  let problem: string | null = null;
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, domain = '', name] = LINE.exec(line.trim()) ?? [];
    const cell = cells.find((each) => each.name === name);
    const read = catchInvalid(() => parseDomain(domain));
    if (cell !== undefined && read.kind === 'valid') found.set(read.value, [...(found.get(read.value) ?? []), cell]);
    else
      problem ??= `Line ${i + 1} of CHARTER_CELL_DOMAINS (${domainsFile}) is ignored: it is not an e-mail domain and the name of a cell of CHARTER_CELLS, such as "acme.example ${cells[0]?.name}".`;
  }
  return { cells: found, problem };
}
