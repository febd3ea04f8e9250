import { mayManage, type Role } from './role.ts';

export type AccessLinkKind = 'invitation' | 'password_reset';

export const LINK_HOURS: Record<AccessLinkKind, number> = { invitation: 72, password_reset: 1 };

/** A link with the present state of its user and of the user who created it, read in one SQL query. */
export type AccessLinkRecord = {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly hasSecondFactor: boolean;
  readonly userDeactivatedAt: Date | null;
  readonly kind: AccessLinkKind;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
  /** The user who created the link; `null` if an operator created it, or the user requested it. */
  readonly maker: LinkMaker | null;
};

export type LinkMaker = { readonly userId: string; readonly role: Role; readonly deactivatedAt: Date | null };

/**
 * Returns whether the link can still be used. The creator of the link must still be allowed to manage the user. The attack: a
 * creator who was deactivated or demoted uses a link that they have kept to take over the account.
 */
export function isLinkOpen(link: Omit<AccessLinkRecord, 'name' | 'email'>, now: Date): boolean {
  return (
    link.usedAt === null &&
    link.expiresAt > now &&
    link.userDeactivatedAt === null &&
    mayMakerManage(link.maker, link.role)
  );
}

export function mayMakerManage(maker: Omit<LinkMaker, 'userId'> | null, target: Role): boolean {
  return maker === null || (maker.deactivatedAt === null && mayManage(maker.role, target));
}

/** Returns the URL of the link. `publicUrl` is the origin of the dashboard. */
export function linkUrl(publicUrl: string, token: string): string {
  return new URL(`/welcome/${token}`, publicUrl).href;
}
