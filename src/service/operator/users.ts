import { DomainError } from '../../domain/errors.ts';
import { OrganizationScope } from '../../domain/organization-scope.ts';
import type { Database } from '../../store/database.ts';
import { findUserByEmail } from '../../store/unscoped/operator.ts';
import { resetSecondFactor } from '../accounts/reset-second-factor.ts';
import { orThrow } from '../outcome.ts';

/** Returns the e-mail as it is stored. */
export async function resetSecondFactorByEmail(db: Database, address: string): Promise<{ email: string }> {
  const { scope, userId, email } = await getUserByEmail(db, address);
  orThrow(await resetSecondFactor(db, { kind: 'operator', scope }, { userId }));
  return { email };
}

/** Throws if there is no such user. */
export async function getUserByEmail(db: Database, address: string) {
  const user = await findUserByEmail(db, address);
  if (user === null) throw new DomainError('not_found', `There is no user with the e-mail ${address}.`);
  return { scope: OrganizationScope.grant(user.organizationId), userId: user.id, email: user.email };
}
