import { readFile } from 'node:fs/promises';
import { codeOf } from '../../domain/errors.ts';
import type { Cell } from '../../domain/organizations/cells.ts';
import { domainOfEmail } from '../../domain/people/email.ts';
import { parseDomain } from '../../domain/people/single-sign-on.ts';
import { catchInvalid } from '../outcome.ts';

/**
 * The cell of the organization that has verified the domain of the e-mail; `null` if the map does not name exactly one. It depends
 * on the domain only, so that nobody can learn which e-mails have an account. The file is read each time, because operators
 * replace it, and few people come here.
 */
export async function findCellForEmail(place: DomainMapPlace, email: string): Promise<Cell | null> {
  const { cells } = await readDomainMap(place);
  const [cell = null, ...others] = new Set(cells.get(domainOfEmail(email)));
  return others.length === 0 ? cell : null;
}

// The file of CHARTER_CELL_DOMAINS. Each line is an e-mail domain and the name of its cell, such as "acme.example us1".

export type DomainMap = {
  /** The cells by domain. Two organizations in different cells can have verified the same domain. */
  readonly cells: ReadonlyMap<string, readonly Cell[]>;
  /** What is wrong with the first line that is ignored, and its number; `null` if there is none. */
  readonly problem: string | null;
};

export type DomainMapPlace = { readonly domainsFile: string; readonly cells: readonly Cell[] };

const LINE = /^(\S+)\s+(\S+)$/;

/** Throws an error that names the variable if the file cannot be read. */
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
