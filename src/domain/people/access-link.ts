import { mayManage, type Role } from './role.ts';

export type AccessLinkKind = 'invitation' | 'password_reset';

export const LINK_HOURS: Record<AccessLinkKind, number> = { invitation: 72, password_reset: 1 };

/** A link with the present state of its user and its maker, read in one statement. */
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
  /** `null` if an operator made the link, or the user requested it. */
  readonly maker: LinkMaker | null;
};

export type LinkMaker = { readonly userId: string; readonly role: Role; readonly deactivatedAt: Date | null };

/**
 * True if the link can still be used. Its maker must be able to manage the user now: a maker who was deactivated, or whose role
 * no longer allows it, must not get into the account by a link kept from before.
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

/** The URL of the link; `publicUrl` is the origin of the dashboard. */
export function linkUrl(publicUrl: string, token: string): string {
  return new URL(`/welcome/${token}`, publicUrl).href;
}
