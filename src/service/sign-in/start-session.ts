import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { hashToken, mintToken } from '../../domain/people/session.ts';
import { insertSession, type NewSession } from '../../store/people/sessions.ts';
import type { Transaction } from '../../store/sql/database.ts';

/**
 * Starts a session under a new token, never under one that the browser sent: a planted token must not become a session.
 * `provedAt` is given where the sign-in alone does not say when the user proved who they are.
 */
export async function startSession(
  tx: Transaction,
  scope: OrganizationScope,
  session: Omit<NewSession, 'tokenHash' | 'provedAt'> & { readonly provedAt?: Date | null },
): Promise<string> {
  const { token, tokenHash } = mintHashedToken();
  const { isComplete, at, provedAt = isComplete ? at : null } = session;
  await insertSession(tx, scope, { ...session, provedAt, tokenHash });
  return token;
}

/** A random token, and its hash for the database. */
export function mintHashedToken(): { token: string; tokenHash: Buffer } {
  const token = mintToken();
  const tokenHash = hashToken(token);
  if (tokenHash === null) throw new Error('A new token does not have the form of a token.');
  return { token, tokenHash };
}
