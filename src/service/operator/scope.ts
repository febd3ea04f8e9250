import { DomainError } from '../../domain/errors.ts';
import { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { commandLine } from '../../domain/release.ts';
import type { Database } from '../../store/sql/database.ts';
import { findOrganization } from '../../store/unscoped/operator.ts';

/** Throws if there is no such organization. */
export async function scopeOf(db: Database, id: string): Promise<OrganizationScope> {
  if ((await findOrganization(db, id)) === null)
    throw new DomainError(
      'not_found',
      `There is no organization with the id ${id}. "${commandLine('admin')} list-organizations" shows them.`,
    );
  return OrganizationScope.grant(id);
}
