import { isLinkOpen } from '../../domain/access-link.ts';
import type { OrganizationScope } from '../../domain/organization-scope.ts';
import { useAccessLink } from '../../store/access-links.ts';
import type { Database, Transaction } from '../../store/database.ts';
import type { SsoSignInRecord } from '../../store/sso-sign-ins.ts';
import { findAccessLinkByHash } from '../../store/unscoped.ts';

// A sign-in that begins from an access link shows whose account it is, as the link does where it sets a password.

type FromLink = { readonly signIn: Pick<SsoSignInRecord, 'linkHash'>; readonly now: Date };

/** The id of the user of the link from which the sign-in began; `null` if there is none, or it is no longer open. */
export async function findLinkUser(
  db: Database,
  { organizationId }: OrganizationScope,
  { signIn, now }: FromLink,
): Promise<string | null> {
  const link = signIn.linkHash === null ? null : await findAccessLinkByHash(db, signIn.linkHash);
  return link !== null && link.organizationId === organizationId && isLinkOpen(link, now) ? link.userId : null;
}

/** Of concurrent calls, one returns true. */
export async function useLink(
  tx: Transaction,
  scope: OrganizationScope,
  { signIn: { linkHash }, now }: FromLink,
): Promise<boolean> {
  return linkHash !== null && useAccessLink(tx, scope, { tokenHash: linkHash, at: now });
}
