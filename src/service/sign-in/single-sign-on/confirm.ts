import type { AuditSource } from '../../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import type { AccessLinkRecord } from '../../../domain/people/access-link.ts';
import { domainOfEmail } from '../../../domain/people/email.ts';
import { hashToken } from '../../../domain/people/session.ts';
import { hashBrowserSecret } from '../../../domain/people/single-sign-on.ts';
import { recordAudit } from '../../../store/audit/audit.ts';
import { lockOrganization } from '../../../store/organizations/organizations.ts';
import {
  deleteSsoSignIn,
  findSsoSignIn,
  hasVerifiedSsoDomain,
  type SsoSignInRecord,
  type UnconfirmedPerson,
} from '../../../store/people/single-sign-on.ts';
import { changeUser, getWaysIn, type LockedUser, lockUser } from '../../../store/people/users.ts';
import { type Database, type Transaction, transaction } from '../../../store/sql/database.ts';
import { isUniqueViolation } from '../../../store/sql/database-errors.ts';
import { type Invalid, invalid, type RateLimited } from '../../outcome.ts';
import { type Attempt, clearAttempt, consumeAttempt } from '../attempt-limits.ts';
import { parseAssertion } from '../passkeys/ceremony.ts';
import { type GivenPasskey, PASSKEY_REFUSED, spendAndVerify, spendUse } from '../passkeys/use-passkey.ts';
import { verifyPassword } from '../password.ts';
import { spendCode } from '../second-factor-code.ts';
import { findLink, linkUser, signInLinked, useLink } from './admit.ts';
import { isOpen } from './begin.ts';
import { groupRoleOf, lacksGroups } from './claims.ts';
import { countSignIn } from './complete.ts';
import { LOST, type Lost, type NotAdmitted, notAdmittedFor, type SignedInByProvider } from './completion.ts';
import { type Connection, shareConnection } from './connection.ts';

export type ConfirmationKey = {
  readonly token: string;
  readonly browserSecret: string;
  readonly now: Date;
};

/** The account that a person may confirm as theirs. */
export type Confirmation = {
  readonly email: string;
  /**
   * What the person must give. "link": only the second factor, because the sign-in began from an access link. "none": the account
   * has no password.
   */
  readonly by: 'password' | 'link' | 'none';
  readonly hasSecondFactor: boolean;
  readonly hasPasskey: boolean;
};

/** Returns the account to confirm, or `null` if this browser has no account to confirm. */
export async function openConfirmation(
  db: Database,
  connection: Connection,
  key: ConfirmationKey,
): Promise<Confirmation | null> {
  const found = await findOpenConfirmation(db, connection, key);
  if (found === null) return null;
  const { email, passwordHash, totpSince } = found.user;
  const by = found.link !== null ? 'link' : passwordHash === null ? 'none' : 'password';
  const { passkeys } = await getWaysIn(db.prisma, connection.scope, found.user.id);
  return { email, by, hasSecondFactor: totpSince !== null, hasPasskey: passkeys > 0 };
}

type Found = {
  readonly tokenHash: Buffer;
  readonly browserHash: Buffer;
  readonly signIn: SsoSignInRecord;
  readonly person: UnconfirmedPerson;
  readonly user: LockedUser;
  /**
   * The access link from which the sign-in began; `null` if there is none. It replaces the password, but not the second factor.
   */
  readonly link: AccessLinkRecord | null;
};

async function findOpenConfirmation(
  db: Database,
  connection: Connection,
  { token, browserSecret, now }: ConfirmationKey,
): Promise<Found | null> {
  const tokenHash = hashToken(token);
  if (tokenHash === null) return null;
  const browserHash = hashBrowserSecret(browserSecret);
  const { scope, record } = connection;
  const found = await transaction(db, async (tx) => {
    const signIn = await findSsoSignIn(tx, scope, { tokenHash, browserHash });
    if (signIn === null || !isOpen(signIn, now) || signIn.person === null || signIn.issuer !== record.issuer)
      return null;
    const user = await lockUser(tx, scope, signIn.person.userId);
    if (user === null || user.deactivatedAt !== null) return null;
    return { tokenHash, browserHash, signIn, person: signIn.person, user };
  });
  if (found === null) return null;
  const link = await findLink(db, scope, { signIn: found.signIn, now });
  const isTheirs = link?.userId === found.user.id && found.user.totpSince !== null;
  return { ...found, link: isTheirs ? link : null };
}

/**
 * Links a user to the person who has just signed in at the provider. The person must prove that the account is theirs, because at
 * some providers people can choose any e-mail. The proof is a passkey, or a password or access link together with the code of the
 * second factor.
 */
export async function confirmAccount(
  db: Database,
  connection: Connection,
  { given, auditSource, ...key }: ConfirmationKey & { given: GivenForAccount; auditSource: AuditSource },
): Promise<SignedInByProvider | Lost | NotAdmitted | Invalid | RateLimited> {
  const found = await findOpenConfirmation(db, connection, key);
  if (found === null) return LOST;
  const { scope, record } = connection;
  const { signIn, person, user } = found;
  const { now } = key;
  const link = given.kind === 'passkey' ? null : found.link;
  const proof = createProof(db, scope, { given, user, hasLink: link !== null, ip: auditSource.ip, now });
  for (const attempt of proof.attempts) {
    const admission = await consumeAttempt(db, attempt);
    if (admission.kind === 'rate-limited') return admission;
  }
  const refuse = async ({ invalid, why }: ConfirmationRefusal): Promise<Invalid> => {
    const detail = { step: 'confirmation for single sign-on', ...why };
    const event = { action: 'user.sign_in_failed', actorUserId: null, targetUserId: user.id, auditSource } as const;
    await transaction(db, (tx) => recordAudit(tx, scope, { ...event, detail }));
    return invalid;
  };
  const spend = await proof.verify();
  if (typeof spend !== 'function') return refuse(spend);
  const linking = { userId: user.id, auditSource, now };
  try {
    const outcome = await transaction(db, async (tx) => {
      await lockOrganization(tx, scope);
      const current = await lockUser(tx, scope, user.id);
      if (current === null || current.deactivatedAt !== null || current.passwordHash !== user.passwordHash) return LOST;
      const rules = await shareConnection(tx, connection);
      // The e-mail of the user, or the claim that contains the groups, may have been changed while the provider was asked.
      if (rules === null || current.email !== person.claims.email || rules.groupsClaim !== person.claims.groupsClaim)
        return LOST;
      const claims = { sub: person.subject, [rules.groupsClaim]: person.claims.groups };
      const byGroups = { groupRole: groupRoleOf({ claims }, rules), lacksGroups: lacksGroups({ claims }, rules) };
      if (!(await hasVerifiedSsoDomain(tx, scope, domainOfEmail(current.email))))
        return notAdmittedFor('foreign-domain');
      const refusal = await spend(tx, current);
      if (refusal !== null) return refusal;
      if (!(await deleteSsoSignIn(tx, scope, found))) return LOST;
      if (link !== null && !(await useLink(tx, scope, { signIn, link, user: current, now }))) return LOST;
      await linkUser(tx, scope, { ...linking, person: { issuer: record.issuer, subject: person.subject } });
      return signInLinked(tx, scope, {
        ...linking,
        sid: person.sid,
        ...byGroups,
        user: current,
        provedAt: now,
        signIn,
      });
    });
    if (outcome.kind === 'refusal') return refuse(outcome);
    if (outcome.kind === 'signed-in') {
      for (const attempt of proof.attempts) await clearAttempt(db, attempt);
      await countSignIn(db, { scope, signIn, signedIn: outcome, auditSource });
    }
    return outcome;
  } catch (error) {
    if (isUniqueViolation(error)) return notAdmittedFor('other-person');
    throw error;
  }
}

// The proof that the account belongs to the person who confirms it.

export type GivenForAccount =
  | {
      readonly kind: 'password';
      /** The password; ignored if the sign-in began from an access link. */
      readonly password: string;
      /** The code of the second factor; ignored if the user has no second factor. */
      readonly code: string;
    }
  /** A passkey that has signed a challenge for a sign-in. */
  | ({ readonly kind: 'passkey' } & Omit<GivenPasskey, 'now'>);

/** The refusal of the proof. `why` is the reason for the audit log. */
export type ConfirmationRefusal = {
  readonly kind: 'refusal';
  readonly invalid: Invalid;
  readonly why: Readonly<Record<string, string>>;
};

/**
 * Uses up the proof in the transaction that links the user, whose row is locked. Returns a refusal if the proof is no longer
 * valid.
 */
type Spend = (tx: Transaction, current: LockedUser) => Promise<ConfirmationRefusal | null>;

type ConfirmationProof = {
  readonly attempts: readonly Attempt[];
  /** Verifies the proof. Call it only after the attempts were found to be within the limits. */
  readonly verify: () => Promise<Spend | ConfirmationRefusal>;
};

type Proving<Given = GivenForAccount> = {
  readonly given: Given;
  readonly user: LockedUser;
  /** Whether the user has an open access link, which replaces the password. */
  readonly hasLink: boolean;
  readonly ip: string;
  readonly now: Date;
};

function createProof(db: Database, scope: OrganizationScope, proving: Proving): ConfirmationProof {
  const { given } = proving;
  return given.kind === 'passkey'
    ? proofByPasskey(db, scope, { ...proving, given })
    : proofByPassword(db, scope, { ...proving, given });
}

function refusal(problem: Invalid, why: ConfirmationRefusal['why'] = {}): ConfirmationRefusal {
  return { kind: 'refusal', invalid: problem, why };
}

function proofByPassword(
  db: Database,
  scope: OrganizationScope,
  { given, user, hasLink, ip, now }: Proving<Extract<GivenForAccount, { kind: 'password' }>>,
): ConfirmationProof {
  const attempts: Attempt[] = hasLink ? [] : [{ at: 'password', account: user.email, ip }];
  if (user.totpSince !== null) attempts.push({ at: 'second-factor', account: user.id, ip });
  const spend: Spend = async (tx, current) => {
    if (current.totpSince === null) return null;
    const spent = spendCode(current, { keyring: db.keyring, code: given.code, now });
    if (spent === null) return refusal(invalid('code', 'is not right, or was used already.'));
    await changeUser(tx, scope, current.id, spent.change);
    return null;
  };
  const verify = async () =>
    hasLink || (await verifyPassword(user.passwordHash, given.password))
      ? spend
      : refusal(invalid('password', 'is not right.'));
  return { attempts, verify };
}

/** Returns the proof by a passkey, which replaces both the password and the second factor, as at the sign-in. */
function proofByPasskey(
  db: Database,
  scope: OrganizationScope,
  { given, user, ip, now }: Proving<Extract<GivenForAccount, { kind: 'passkey' }>>,
): ConfirmationProof {
  const response = parseAssertion(given.credential);
  const verify = async () => {
    const use = await spendAndVerify(db, scope, { userId: user.id, response, given, purpose: 'sign_in', now });
    if (use === null) return refusal(PASSKEY_REFUSED, { why: 'the passkey did not sign what Charter asked for' });
    const spend: Spend = async (tx, current) => {
      const outcome = await spendUse(tx, scope, { userId: current.id, use, now });
      return outcome.kind === 'used' ? null : refusal(PASSKEY_REFUSED, { passkey: use.passkey.name, why: outcome.why });
    };
    return spend;
  };
  return { attempts: [{ at: 'passkey', account: response?.credentialId ?? '', ip }], verify };
}
