import { HOUR_MS } from '../../domain/duration.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { type AccessLinkKind, LINK_HOURS } from '../../domain/people/access-link.ts';
import { insertAccessLink } from '../../store/people/access-links.ts';
import type { Transaction } from '../../store/sql/database.ts';
import { mintHashedToken } from './start-session.ts';

/** A link with which a user sets a password. Only a hash of the token is stored, so the link can be shown only once. */
export type AccessLink = {
  readonly token: string;
  readonly kind: AccessLinkKind;
  readonly expiresAt: Date;
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  /** False: the link proves that the e-mail is the user's, so only its mailbox should get it. */
  readonly hasAccepted: boolean;
};

export type LinkMade = { readonly kind: 'link-made'; readonly link: AccessLink };

export type NewLink = {
  readonly user: { readonly id: string; readonly name: string; readonly email: string; readonly hasAccepted: boolean };
  readonly kind: AccessLinkKind;
  /** `null` for an operator, or for the user's own request. */
  readonly madeByUserId: string | null;
  readonly now: Date;
};

export async function addLink(
  tx: Transaction,
  scope: OrganizationScope,
  { user, kind, madeByUserId, now }: NewLink,
): Promise<AccessLink> {
  const { token, tokenHash } = mintHashedToken();
  const expiresAt = new Date(now.getTime() + LINK_HOURS[kind] * HOUR_MS);
  await insertAccessLink(tx, scope, { userId: user.id, tokenHash, kind, madeByUserId, createdAt: now, expiresAt });
  const { id: userId, name, email, hasAccepted } = user;
  return { token, kind, expiresAt, userId, name, email, hasAccepted };
}
