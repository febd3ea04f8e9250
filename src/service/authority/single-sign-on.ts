import type { Actor } from '../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { domainOfEmail, shownEmail } from '../../domain/people/email.ts';
import type { WaysIn } from '../../domain/people/ways-in.ts';
import { findSsoEnforcement } from '../../store/people/sso-connections.ts';
import { listSsoDomains, type SsoDomainRecord } from '../../store/people/sso-domains.ts';
import { findPeopleOutside, type SomePeople } from '../../store/people/user-lists.ts';
import { findWaysIn } from '../../store/people/users.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { type Conflict, conflict, type Invalid, invalid } from '../outcome.ts';

/**
 * How a user may sign in: freely, by single sign-on alone, or, as the one administrator for emergencies, by a password although
 * everybody else may not.
 */
export type SignInWay = 'free' | 'single-sign-on' | 'break-glass';

/** Somebody proved who they are, but their organization requires single sign-on. Only who has proved it may be told. */
export type SingleSignOnRequired = {
  readonly kind: 'single-sign-on-required';
  readonly organizationId: string;
  readonly email: string;
};

/** For the audit log. */
export const WHY_REQUIRED = 'the organization requires single sign-on';

/** `userId`: `null` for somebody who has no account yet. */
export async function signInWayOf(
  tx: Transaction,
  scope: OrganizationScope,
  userId: string | null,
): Promise<SignInWay> {
  const enforcement = await findSsoEnforcement(tx, scope);
  if (enforcement === null) return 'free';
  return enforcement.breakGlassUserId === userId ? 'break-glass' : 'single-sign-on';
}

/** Whether a user of the actor's organization can sign in at the provider only; `userId`: `null` for one who is to be invited. */
export async function isSingleSignOnRequired(
  { prisma }: Database,
  { scope }: Actor,
  userId: string | null,
): Promise<boolean> {
  return (await signInWayOf(prisma, scope, userId)) === 'single-sign-on';
}

export type OwnWaysIn = WaysIn & {
  /** Whether a password is accepted, if there is one. */
  readonly mayUsePassword: boolean;
};

/** The actor's own ways to sign in. */
export async function findOwnWaysIn(db: Database, actor: Actor): Promise<OwnWaysIn> {
  const ways = await findWaysIn(db.prisma, actor.scope, actor.userId);
  return { ...ways, mayUsePassword: !(await isSingleSignOnRequired(db, actor, actor.userId)) };
}

export const NO_PASSWORD =
  'Your organization requires single sign-on, so you need no password and no second factor here.';

/** Refuses to set up what nobody could sign in with. */
export async function refusePasswords(
  tx: Transaction,
  scope: OrganizationScope,
  userId: string,
): Promise<Conflict | null> {
  const way = await signInWayOf(tx, scope, userId);
  return way === 'single-sign-on' ? conflict(NO_PASSWORD) : null;
}

/** Refuses to invite somebody whom the provider could not let in. */
export async function refuseForeignEmail(
  tx: Transaction,
  scope: OrganizationScope,
  email: string,
): Promise<Invalid | null> {
  if ((await findSsoEnforcement(tx, scope)) === null) return null;
  const foreign = await findForeign(tx, scope, email);
  return foreign === null ? null : invalid('email', foreign);
}

/** Refuses a link that would lead its user nowhere. */
export async function refuseForeignUser(
  tx: Transaction,
  scope: OrganizationScope,
  { id, email }: { readonly id: string; readonly email: string },
): Promise<Conflict | null> {
  if ((await signInWayOf(tx, scope, id)) !== 'single-sign-on') return null;
  if ((await findWaysIn(tx, scope, id)).isLinked) return null;
  const foreign = await findForeign(tx, scope, email);
  return foreign === null ? null : conflict(`The e-mail ${shownEmail(email)} ${foreign}`);
}

/** What is wrong with an e-mail of no verified domain, and the remedy. */
async function findForeign(tx: Transaction, scope: OrganizationScope, email: string): Promise<string | null> {
  const verified = verifiedIn(await listSsoDomains(tx, scope));
  if (verified.includes(domainOfEmail(email))) return null;
  return `must be of a verified domain (${verified.join(', ')}), because your organization requires single sign-on. An administrator can verify another one under Organization, Sign-in.`;
}

function verifiedIn(domains: readonly SsoDomainRecord[]): string[] {
  return domains.flatMap(({ domain, verifiedAt }) => (verifiedAt === null ? [] : [domain]));
}

const SHOWN_PEOPLE = 6;

/**
 * The first of those who cannot sign in where single sign-on is required: the provider would not lead them to their account.
 * `besides`: the break-glass administrator.
 */
export async function findShutOut(
  db: Database,
  scope: OrganizationScope,
  { domains, besides }: { readonly domains: readonly SsoDomainRecord[]; readonly besides: string | null },
): Promise<SomePeople> {
  return findPeopleOutside(db, scope, { domains: verifiedIn(domains), besides, limit: SHOWN_PEOPLE });
}

/** Refuses to take the break-glass administrator away while single sign-on is required. */
export async function refuseForBreakGlass(
  tx: Transaction,
  scope: OrganizationScope,
  { id, email }: { readonly id: string; readonly email: string },
): Promise<Conflict | null> {
  const way = await signInWayOf(tx, scope, id);
  return way === 'break-glass'
    ? conflict(
        `${shownEmail(email)} is the break-glass administrator. Choose another one under Organization, Sign-in first.`,
      )
    : null;
}
