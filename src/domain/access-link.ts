import { mayManage, type Role } from './role.ts';

export type AccessLinkKind = 'invitation' | 'password_reset';

export const LINK_HOURS: Record<AccessLinkKind, number> = { invitation: 72, password_reset: 1 };

/** A link, its maker and its user as they are now, read in one statement. */
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
  /** Null: an operator, or the user's own request. */
  readonly maker: LinkMaker | null;
};

export type LinkMaker = { readonly userId: string; readonly role: Role; readonly deactivatedAt: Date | null };

/**
 * Whether it still lets its holder set the password. A link is worth what its maker may do now: who has left, or was put
 * below the user since, has no hold on the account by a link kept from before.
 */
export function isLinkOpen(link: Omit<AccessLinkRecord, 'name' | 'email'>, now: Date): boolean {
  return (
    link.usedAt === null &&
    link.expiresAt > now &&
    link.userDeactivatedAt === null &&
    isMakerAble(link.maker, link.role)
  );
}

export function isMakerAble(maker: Omit<LinkMaker, 'userId'> | null, target: Role): boolean {
  return maker === null || (maker.deactivatedAt === null && mayManage(maker.role, target));
}

/** Where the holder of a link goes; `publicUrl` is the origin under which people reach the dashboard. */
export function linkUrl(publicUrl: string, token: string): string {
  return new URL(`/welcome/${token}`, publicUrl).href;
}
