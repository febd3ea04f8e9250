import type { OrganizationScope } from '../domain/organization-scope.ts';
import { hashToken, mintToken } from '../domain/session.ts';
import type { Transaction } from '../store/database.ts';
import { insertSession } from '../store/sessions.ts';

/** A new session under a token of its own, whatever the browser brought: one that was planted there opens nothing. */
export async function startSession(
  tx: Transaction,
  scope: OrganizationScope,
  session: { userId: string; isComplete: boolean; at: Date },
): Promise<string> {
  const { token, tokenHash } = mintHashedToken();
  await insertSession(tx, scope, { ...session, tokenHash });
  return token;
}

/** A token for its holder, and what the database keeps of it. */
export function mintHashedToken(): { token: string; tokenHash: Buffer } {
  const token = mintToken();
  const tokenHash = hashToken(token);
  if (tokenHash === null) throw new Error('A token is not in its own form.');
  return { token, tokenHash };
}
