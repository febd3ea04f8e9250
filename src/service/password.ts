import argon2 from '@node-rs/argon2';
import { invalidField } from '../domain/errors.ts';
import type { OrganizationScope } from '../domain/organization-scope.ts';
import { MAX_PASSWORD_CHARACTERS, normalPassword, type PasswordOwner, passwordProblem } from '../domain/password.ts';
import { voidAccessLinksOf } from '../store/access-links.ts';
import type { Transaction } from '../store/database.ts';
import { endSessionsOf } from '../store/sessions.ts';
import { changeUser, type LockedUser, NO_SECOND_FACTOR } from '../store/users.ts';

/** Argon2id, the library's default, as OWASP's password storage cheat sheet has it: 19 MiB, two passes, one lane; in PHC format. */
export async function hashPassword(password: string): Promise<string> {
  return argon2.hash(normalPassword(password), { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
}

/** The hash of 32 random bytes that nobody kept, made at the same cost as every other. */
const NOBODYS = '$argon2id$v=19$m=19456,t=2,p=1$zkskN0wUGXwcXVbMAEzwPA$AYX97bk5K6ALFTX7gj1IJHblDRhACinz1hw4g/fhfMI';

/** The same work whether there is a password or, null, there is none: the time tells nobody which accounts exist. */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  // A longer text is nobody's password; one character more than the most keeps it from becoming one.
  const characters = [...normalPassword(password.slice(0, 4 * MAX_PASSWORD_CHARACTERS))];
  const text = characters.slice(0, MAX_PASSWORD_CHARACTERS + 1).join('');
  const isRight = await argon2.verify(passwordHash ?? NOBODYS, text);
  return isRight && passwordHash !== null;
}

/** With the old password ends whatever it may have opened: every session and link, and a second factor's half set-up. */
export async function replacePassword(
  tx: Transaction,
  scope: OrganizationScope,
  { user, passwordHash }: { user: LockedUser; passwordHash: string },
): Promise<void> {
  await changeUser(tx, scope, user.id, { passwordHash, ...(user.totpSince === null && NO_SECOND_FACTOR) });
  await endSessionsOf(tx, scope, user.id);
  await voidAccessLinksOf(tx, scope, user.id);
}

export function refuseWeakPassword(password: string, owner: PasswordOwner): void {
  const problem = passwordProblem(password, owner);
  if (problem !== null) throw invalidField('password', problem);
}
