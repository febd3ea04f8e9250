import type { OrganizationScope } from '../../domain/organization-scope.ts';
import { hashToken } from '../../domain/session.ts';
import { type Database, transaction } from '../../store/database.ts';
import { recordProof } from '../../store/sessions.ts';
import { findSsoUser } from '../../store/sso-identities.ts';
import { type Person, provedAtOf } from './claims.ts';

/** Whether the person is the user of the browser's session, whose proof is then as old as their sign-in there. */
export async function provePerson(
  db: Database,
  scope: OrganizationScope,
  { person, token, now }: { person: Person; token: string | null; now: Date },
): Promise<boolean> {
  const tokenHash = hashToken(token ?? '');
  return transaction(db, async (tx) => {
    const userId = await findSsoUser(tx, scope, person);
    if (userId === null || tokenHash === null) return false;
    return recordProof(tx, scope, { userId, tokenHash, at: provedAtOf(person, now) });
  });
}
