import type { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import { type AccessLinkRecord, isLinkOpen, mayMakerManage } from '../../../domain/people/access-link.ts';
import { useAccessLink } from '../../../store/people/access-links.ts';
import type { SsoSignInRecord } from '../../../store/people/sso-sign-ins.ts';
import type { LockedUser } from '../../../store/people/users.ts';
import type { Database, Transaction } from '../../../store/sql/database.ts';
import { findAccessLinkByHash } from '../../../store/unscoped/people.ts';

// A sign-in that begins from an access link shows whose account it is, as the link does where it sets a password.

type FromLink = { readonly signIn: Pick<SsoSignInRecord, 'linkHash'>; readonly now: Date };

/** The link from which the sign-in began; `null` if there is none, or it is no longer open. */
export async function findLink(
  db: Database,
  { organizationId }: OrganizationScope,
  { signIn, now }: FromLink,
): Promise<AccessLinkRecord | null> {
  const link = signIn.linkHash === null ? null : await findAccessLinkByHash(db, signIn.linkHash);
  return link !== null && link.organizationId === organizationId && isLinkOpen(link, now) ? link : null;
}

/** Of concurrent calls, one returns true. `user`: locked, because the role may have changed since the link was found. */
export async function useLink(
  tx: Transaction,
  scope: OrganizationScope,
  { signIn: { linkHash }, link, user, now }: FromLink & { readonly link: AccessLinkRecord; readonly user: LockedUser },
): Promise<boolean> {
  if (linkHash === null || link.userId !== user.id || !mayMakerManage(link.maker, user.role)) return false;
  return useAccessLink(tx, scope, { tokenHash: linkHash, at: now });
}
