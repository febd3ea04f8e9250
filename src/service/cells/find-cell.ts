import type { Cell } from '../../domain/organizations/cells.ts';
import { domainOfEmail } from '../../domain/people/email.ts';
import { type DomainMapPlace, readDomainMap } from './domain-map.ts';

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
