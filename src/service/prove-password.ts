import type { Actor } from '../domain/actor.ts';
import { invalidField } from '../domain/errors.ts';
import type { Database } from '../store/database.ts';
import { findPasswordHash } from '../store/users.ts';
import { verifyPassword } from './password.ts';
import { forgiveAttempt, refuseWhenSlowed } from './slowing.ts';

/**
 * Somebody who is signed in gives the password once more; a session left open, or stolen, is not enough. It is slowed like
 * sign-in, and returns the hash that the password was proven against.
 */
export async function provePassword(
  db: Database,
  actor: Actor,
  { password, field }: { password: string; field: string },
): Promise<string> {
  const attempt = { at: 'password', account: actor.email, ip: actor.trace.ip } as const;
  await refuseWhenSlowed(db, attempt);
  const passwordHash = await findPasswordHash(db, actor.scope, actor.userId);
  if (!(await verifyPassword(passwordHash, password)) || passwordHash === null)
    throw invalidField(field, 'is not your password.');
  await forgiveAttempt(db, attempt);
  return passwordHash;
}
