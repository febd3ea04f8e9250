import type { OrganizationScope } from '../../domain/organization-scope.ts';
import { hashToken } from '../../domain/session.ts';
import { type Database, transaction } from '../../store/database.ts';
import { recordProof } from '../../store/sessions.ts';
import { findSsoUser } from '../../store/sso-identities.ts';
import type { Person } from './claims.ts';

/** Whether the person is the user of the browser's session, whose proof is then fresh. */
export async function provePerson(
  db: Database,
  scope: OrganizationScope,
  { person, token, now }: { person: Person; token: string | null; now: Date },
): Promise<boolean> {
  const tokenHash = hashToken(token ?? '');
  return transaction(db, async (tx) => {
    const userId = await findSsoUser(tx, scope, person);
    return userId !== null && tokenHash !== null && recordProof(tx, scope, { userId, tokenHash, at: now });
  });
}
