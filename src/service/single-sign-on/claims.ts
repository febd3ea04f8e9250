import { normalEmail } from '../../domain/email.ts';
import { MAX_CHARACTERS, parseName } from '../../domain/name.ts';
import { ROLES, type Role } from '../../domain/role.ts';
import type { GroupRole } from '../../domain/single-sign-on.ts';
import type { SsoConnectionRecord, SsoRules } from '../../store/sso-connections.ts';
import type { Claims } from './provider.ts';

/** The person at the provider, as its claims describe them. */
export type Person = {
  readonly issuer: string;
  readonly subject: string;
  /** In lower case; `null` if there is none, or the provider says that it is not verified. */
  readonly email: string | null;
  readonly name: string;
  /** The provider's id of the session; empty if it gave none. */
  readonly sid: string;
  /** When they signed in there; `null` if the provider did not say. */
  readonly signedInAt: Date | null;
  /** The role by the person's groups; `null` if roles do not follow groups, or the provider did not send them. */
  readonly groupRole: GroupRole | null;
};

/** `null` if the subject is longer than OpenID Connect allows, or cannot be stored. */
export function personOf(claims: Claims, record: SsoConnectionRecord): Person | null {
  const { sub } = claims;
  if (sub === '' || sub.length > 255 || /\p{C}/u.test(sub)) return null;
  const email = emailOf(claims);
  return {
    issuer: record.issuer,
    subject: sub,
    email,
    name: nameOf(claims, email),
    sid: textOf(claims['sid'], 255),
    signedInAt: instantOf(claims['auth_time']),
    groupRole: groupRoleOf(claims, record),
  };
}

/**
 * Since when the person counts as proven: somebody who found the browser open may come through the provider without a password.
 * Without a time, the provider vouches for it.
 */
export function provedAtOf({ signedInAt }: Pick<Person, 'signedInAt'>, now: Date): Date {
  return new Date(Math.min(now.getTime(), signedInAt?.getTime() ?? now.getTime()));
}

/** Some providers send "false" as a string, which would count as true. Without the claim, the domain alone vouches for it. */
function emailOf({ email, email_verified: isVerified }: Claims): string | null {
  if (isVerified !== undefined && isVerified !== true && isVerified !== 'true') return null;
  return typeof email === 'string' ? normalEmail(email) : null;
}

/** A name that people may have; the e-mail where the provider's is none. */
function nameOf({ name }: Claims, email: string | null): string {
  const candidates = [textOf(name, MAX_CHARACTERS.person), email?.slice(0, MAX_CHARACTERS.person) ?? ''];
  for (const candidate of candidates) {
    try {
      return parseName(candidate, { kind: 'person' });
    } catch {}
  }
  return 'Unnamed';
}

/** The library has checked that it is a number, in seconds. */
function instantOf(seconds: unknown): Date | null {
  return typeof seconds === 'number' ? new Date(seconds * 1000) : null;
}

function textOf(value: unknown, maxCharacters: number): string {
  return typeof value === 'string' && value.length <= maxCharacters && !/\p{C}/u.test(value) ? value : '';
}

/**
 * The highest role of the person's groups. Somebody in none of them has the role of new people. A provider that does not send
 * the claim, such as Entra ID for people with too many groups, changes nothing.
 */
function groupRoleOf(claims: Claims, { groupsClaim, groupRoles, newPeopleRole }: SsoRules): GroupRole | null {
  if (groupsClaim === '' || groupRoles.length === 0) return null;
  const sent = claims[groupsClaim];
  if (!Array.isArray(sent) && typeof sent !== 'string') return null;
  const groups: readonly unknown[] = Array.isArray(sent) ? sent : [sent];
  const roles = groupRoles.filter(({ groupName }) => groups.includes(groupName)).map(({ role }) => role);
  return highest(roles) ?? newPeopleRole ?? 'viewer';
}

function highest(roles: readonly GroupRole[]): GroupRole | undefined {
  const rank = (role: Role) => ROLES.indexOf(role);
  return roles.toSorted((a, b) => rank(a) - rank(b))[0];
}
