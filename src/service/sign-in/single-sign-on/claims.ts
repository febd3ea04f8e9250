import { MAX_CHARACTERS, parseName } from '../../../domain/name.ts';
import { normalEmail } from '../../../domain/people/email.ts';
import { ROLES, type Role } from '../../../domain/people/role.ts';
import type { GroupRole } from '../../../domain/people/single-sign-on.ts';
import { isText } from '../../../domain/text.ts';
import type { SsoRules } from '../../../store/people/single-sign-on.ts';
import type { Claims, WantedClaim } from './provider.ts';

/** A person as the provider's claims describe them. */
export type Person = {
  readonly issuer: string;
  readonly subject: string;
  /** The e-mail in lower case; `null` if the provider gave no e-mail, or says that the e-mail is not verified. */
  readonly email: string | null;
  readonly name: string;
  /** The provider's id of the session; empty if the provider gave none. */
  readonly sid: string;
  /** When the person signed in at the provider; `null` if the provider did not say. */
  readonly signedInAt: Date | null;
  /** All claims. The organization's rules say which claim contains the groups. */
  readonly claims: Claims;
};

/** Returns the person, or `null` if the subject is longer than OpenID Connect Core section 2 allows or cannot be stored. */
export function personOf(claims: Claims, { issuer }: Pick<Person, 'issuer'>): Person | null {
  const { sub } = claims;
  if (sub === '' || sub.length > 255 || /\p{C}/u.test(sub)) return null;
  const email = emailOf(claims);
  return {
    issuer,
    subject: sub,
    email,
    name: nameOf(claims, email),
    sid: textOf(claims['sid'], 255),
    signedInAt: instantOf(claims['auth_time']),
    claims,
  };
}

/**
 * Returns when the person proved who they are, or `null` if the provider did not say. The return from the provider proves
 * nothing, because an intruder at an unlocked computer may use the person's session at the provider.
 */
export function provedAtOf({ signedInAt }: Pick<Person, 'signedInAt'>, now: Date): Date | null {
  return signedInAt === null ? null : new Date(Math.min(now.getTime(), signedInAt.getTime()));
}

/**
 * Returns the e-mail, or `null` if the claim email_verified says that it is not verified. Some providers send the claim as a
 * string. If the claim is missing, it is enough that the organization has verified the domain.
 */
function emailOf({ email, email_verified: isVerified }: Claims): string | null {
  if (isVerified !== undefined && isVerified !== true && isVerified !== 'true') return null;
  return typeof email === 'string' ? normalEmail(email) : null;
}

/** Returns the name from the provider if it is a valid name for a person, otherwise the e-mail. */
function nameOf({ name }: Claims, email: string | null): string {
  const candidates = [textOf(name, MAX_CHARACTERS.person), email?.slice(0, MAX_CHARACTERS.person) ?? ''];
  for (const candidate of candidates) {
    try {
      return parseName(candidate, { kind: 'person' });
    } catch {}
  }
  return 'Unnamed';
}

/**
 * Converts a number of seconds since 1970-01-01 to a Date. Returns `null` if the value is not a number, or is beyond the range of
 * a Date.
 */
function instantOf(seconds: unknown): Date | null {
  const instant = typeof seconds === 'number' ? new Date(seconds * 1000) : null;
  return instant === null || Number.isNaN(instant.getTime()) ? null : instant;
}

function textOf(value: unknown, maxCharacters: number): string {
  return typeof value === 'string' && value.length <= maxCharacters && !/\p{C}/u.test(value) ? value : '';
}

/**
 * Returns the highest role of the person's groups, or the role of new people if no group gives a role. Returns `null` if roles do
 * not depend on groups, or the provider did not send the claim, as Entra ID does for people with too many groups.
 */
export function groupRoleOf({ claims }: Pick<Person, 'claims'>, rules: SsoRules): GroupRole | null {
  const { groupRoles, newPeopleRole } = rules;
  const groups = wantsGroups(rules) ? groupsIn(claims, rules) : null;
  if (groups === null) return null;
  const roles = groupRoles.filter(({ groupName }) => groups.includes(groupName)).map(({ role }) => role);
  return highest(roles) ?? newPeopleRole ?? 'viewer';
}

/**
 * Returns the groups that are strings, for a later decision about the role, or `undefined` if the provider has sent no groups.
 */
export function storableGroups({ claims }: Pick<Person, 'claims'>, groupsClaim: string): readonly string[] | undefined {
  const groups = groupsClaim === '' ? null : groupsIn(claims, { groupsClaim });
  return groups?.flatMap((each) => (typeof each === 'string' && isText(each) ? [each] : []));
}

/** Returns whether roles depend on groups, but the provider has not sent any. */
export function lacksGroups({ claims }: Pick<Person, 'claims'>, rules: SsoRules): boolean {
  return wantsGroups(rules) && groupsIn(claims, rules) === null;
}

function wantsGroups({ groupsClaim, groupRoles }: SsoRules): boolean {
  return groupsClaim !== '' && groupRoles.length > 0;
}

/** Returns the value of the groups claim as an array, or `null` if there is no such claim. */
function groupsIn(claims: Claims, { groupsClaim }: Pick<SsoRules, 'groupsClaim'>): readonly unknown[] | null {
  const sent = claims[groupsClaim];
  if (typeof sent === 'string') return [sent];
  return Array.isArray(sent) ? sent : null;
}

/** Returns the claims to request. A sign-in is possible without the name. */
export function claimsFor(rules: SsoRules): WantedClaim[] {
  return [
    { name: 'email', isNeeded: true },
    ...(wantsGroups(rules) ? [{ name: rules.groupsClaim, isNeeded: true }] : []),
    ...(rules.newPeopleRole === null ? [] : [{ name: 'name', isNeeded: false }]),
  ];
}

function highest(roles: readonly GroupRole[]): GroupRole | undefined {
  const rank = (role: Role) => ROLES.indexOf(role);
  return roles.toSorted((a, b) => rank(a) - rank(b))[0];
}
