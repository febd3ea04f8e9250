import { readFile } from 'node:fs/promises';
import type { Cell, CommonAddress } from '../../domain/cells.ts';
import { domainOfEmail } from '../../domain/single-sign-on.ts';

/**
 * The cell of the organization that has verified the domain of the e-mail; `null` if the map does not name exactly one. It depends
 * on the domain only, so that nobody can learn which e-mails have an account. The file is read each time, because operators
 * replace it, and few people come here.
 */
export async function findCellForEmail(
  { cells, domainsFile }: Pick<CommonAddress, 'cells' | 'domainsFile'>,
  email: string,
): Promise<Cell | null> {
  const domain = domainOfEmail(email);
  if (domainsFile === null || domain === '') return null;
  const start = `${domain} `;
  const lines = (await readFile(domainsFile, 'utf8')).split('\n').filter((line) => line.startsWith(start));
  // Two organizations in different cells can have verified the same domain.
  const names = new Set(lines.map((line) => line.slice(start.length).trim()));
  return cells.find(({ name }) => names.size === 1 && names.has(name)) ?? null;
}
