import argon2 from '@node-rs/argon2';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { type AccessLinkKind, LINK_HOURS } from '../../domain/people/access-link.ts';
import {
  checkPasswordStrength,
  MAX_PASSWORD_CHARACTERS,
  normalPassword,
  type PasswordOwner,
} from '../../domain/people/password.ts';
import { HOUR_MS } from '../../domain/time.ts';
import { insertAccessLink, voidAccessLinksOf } from '../../store/people/access-links.ts';
import { endOtherSessionsOf, endSessionsOf } from '../../store/people/sessions.ts';
import { changeUser, type LockedUser, NO_SECOND_FACTOR } from '../../store/people/users.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { type Invalid, invalid } from '../outcome.ts';
import { createHashedToken } from './sessions.ts';

/**
 * Returns the Argon2id hash of the password in PHC format, with the parameters that OWASP's Password Storage Cheat Sheet
 * recommends: 19 MiB, two passes, one lane.
 */
export async function hashPassword(password: string): Promise<string> {
  return argon2.hash(normalPassword(password), { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
}

/**
 * A hash that no password matches. It was made of 32 random bytes that were discarded, and takes as long to verify as any other
 * hash.
 */
const UNMATCHABLE = '$argon2id$v=19$m=19456,t=2,p=1$zkskN0wUGXwcXVbMAEzwPA$AYX97bk5K6ALFTX7gj1IJHblDRhACinz1hw4g/fhfMI';

/**
 * Returns whether the password matches the hash. Without a hash, takes the same time, so that the time does not reveal which
 * accounts exist.
 */
export async function verifyPassword(passwordHash: string | null, password: string): Promise<boolean> {
  // A longer text is cut to one character more than the longest password, so that it still matches no hash.
  const characters = [...normalPassword(password.slice(0, 4 * MAX_PASSWORD_CHARACTERS))];
  const text = characters.slice(0, MAX_PASSWORD_CHARACTERS + 1).join('');
  const isRight = await argon2.verify(passwordHash ?? UNMATCHABLE, text);
  return isRight && passwordHash !== null;
}

type Replacement = {
  readonly user: LockedUser;
  readonly passwordHash: string;
  /** The SHA-256 of the token of the session that continues; `null` if no session continues. */
  readonly keptSession: Buffer | null;
};

/**
 * Changes the password of a user. Ends the sessions and access links, and a pending set-up of a second factor, which somebody who
 * knew the old password may have created.
 */
export async function replacePassword(
  tx: Transaction,
  scope: OrganizationScope,
  { user, passwordHash, keptSession }: Replacement,
): Promise<void> {
  await changeUser(tx, scope, user.id, { passwordHash, ...(user.totpSince === null && NO_SECOND_FACTOR) });
  if (keptSession === null) await endSessionsOf(tx, scope, user.id);
  else await endOtherSessionsOf(tx, scope, { userId: user.id, tokenHash: keptSession });
  await voidAccessLinksOf(tx, scope, user.id);
}

export function checkPassword(password: string, owner: PasswordOwner): Invalid | null {
  const problem = checkPasswordStrength(password, owner);
  return problem === null ? null : invalid('password', problem);
}

/** A link by which a user sets a password. Only the hash of its token is stored, so the link can be shown only once. */
export type AccessLink = {
  readonly token: string;
  readonly kind: AccessLinkKind;
  readonly expiresAt: Date;
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  /**
   * Whether the user has accepted the invitation. If not, using the link proves that the e-mail is the user's, so only the
   * mailbox should get the link.
   */
  readonly hasAccepted: boolean;
};

export type LinkMade = { readonly kind: 'link-made'; readonly link: AccessLink };

export type NewLink = {
  readonly user: { readonly id: string; readonly name: string; readonly email: string; readonly hasAccepted: boolean };
  readonly kind: AccessLinkKind;
  /** The user who created the link; `null` for an operator, or for the user's own request. */
  readonly madeByUserId: string | null;
  readonly now: Date;
};

export async function insertLink(
  tx: Transaction,
  scope: OrganizationScope,
  { user, kind, madeByUserId, now }: NewLink,
): Promise<AccessLink> {
  const { token, tokenHash } = createHashedToken();
  const expiresAt = new Date(now.getTime() + LINK_HOURS[kind] * HOUR_MS);
  await insertAccessLink(tx, scope, { userId: user.id, tokenHash, kind, madeByUserId, createdAt: now, expiresAt });
  const { id: userId, name, email, hasAccepted } = user;
  return { token, kind, expiresAt, userId, name, email, hasAccepted };
}
