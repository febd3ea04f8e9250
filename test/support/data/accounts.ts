import { randomBytes } from 'node:crypto';
import argon2 from '@node-rs/argon2';
import { TOTP } from 'otpauth';
import { v7 as newId } from 'uuid';
import type { Actor, AuditSource } from '../../../src/domain/audit/actor.ts';
import type { OrganizationScope } from '../../../src/domain/organizations/organization-scope.ts';
import type { Role } from '../../../src/domain/people/role.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { startSession } from '../../../src/service/sign-in/sessions.ts';
import { getSessionState, signIn } from '../../../src/service/sign-in/sign-in.ts';
import { beginSecondFactor, confirmSecondFactor } from '../../../src/service/sign-in-settings/second-factor.ts';
import { insertPasskey } from '../../../src/store/people/passkeys.ts';
import { type Database, transaction } from '../../../src/store/sql/database.ts';
import { placeOfClientSecret } from '../../../src/store/sql/secrets.ts';
import { createActors, createScope } from './actors.ts';

export const MINUTE = 60_000;

let address = 0;

/** Returns the source of a request, by default with an IP address that no other test uses. */
export function newAuditSource(ip?: string): AuditSource {
  address += 1;
  return {
    ip: ip ?? `198.${18 + (address >> 16)}.${(address >> 8) & 255}.${address & 255}`,
    userAgent: 'Test',
    requestId: crypto.randomUUID(),
  };
}

let passwordHash: Promise<string> | undefined;

/**
 * Returns a hash of PASSWORD with the lowest cost parameters, so that the hundreds of sign-ins in tests are fast: a verification
 * takes its parameters from the hash.
 */
export function cheapPasswordHash(): Promise<string> {
  passwordHash ??= argon2.hash(PASSWORD, { memoryCost: 8, timeCost: 1, parallelism: 1 });
  return passwordHash;
}

/** Creates a user with the password PASSWORD, in a new organization unless `scope` is given. */
export async function createAccount(
  db: Database,
  { role = 'member', scope }: { role?: Role; scope?: OrganizationScope } = {},
): Promise<Actor> {
  const user = { role, passwordHash: await cheapPasswordHash() };
  const [actor] = await createActors(db, scope ?? (await createScope(db)), [user]);
  if (actor === undefined) throw new Error('No user was created.');
  return { ...actor, auditSource: newAuditSource() };
}

/** Signs in, and returns the token of the session. Throws if the sign-in needs another step. */
export async function signInAs(db: Database, { email }: Actor, { password = PASSWORD, now = new Date() } = {}) {
  const result = await signIn(db, { email, password, auditSource: newAuditSource(), now });
  if (result.kind !== 'signed-in') throw new Error(`The sign-in is ${result.kind}.`);
  return result.token;
}

export async function isSignedIn(db: Database, token: string, now = new Date()): Promise<boolean> {
  return (await getSessionState(db, token, newAuditSource(), now)).kind === 'signed-in';
}

/** Returns the code that the authenticator shows at this time. */
export function codeAt(uri: string, at: Date): string {
  const { secret } = Object.fromEntries(new URL(uri).searchParams);
  return new TOTP({ secret: secret ?? '', digits: 6, period: 30 }).generate({ timestamp: at.getTime() });
}

/** Opens a session without a sign-in and without an audit event, and returns the session's token. */
export async function openSession(
  db: Database,
  { scope, userId, auditSource }: Actor,
  at = new Date(),
): Promise<string> {
  return transaction(db, (tx) => startSession(tx, scope, { userId, isComplete: true, at, auditSource }));
}

/** Moves the time of the last proof of identity in each of the user's sessions into the past, by `minutes`. */
export async function ageProofs(db: Database, { userId }: Pick<Actor, 'userId'>, minutes = 11): Promise<void> {
  await db.pool.query(
    'update sessions set proved_at = proved_at - make_interval(mins => $2) where user_id = $1 and is_complete',
    [userId, minutes],
  );
}

/** Sets up a second factor, with the code of one minute before `now`, so that the current codes are still unused. */
export async function addSecondFactor(db: Database, actor: Actor, now: Date) {
  const before = new Date(now.getTime() - 60_000);
  const session = await openSession(db, actor, before);
  const { uri } = orThrow(await beginSecondFactor(db, actor, { token: session }));
  const confirmation = { code: codeAt(uri, before), token: session, now: before };
  const { recoveryCodes, token } = orThrow(await confirmSecondFactor(db, actor, confirmation));
  return { uri, recoveryCodes, token };
}

/** Links the user to a person at a provider that does not exist, without a sign-in. */
export async function linkDirectly({ prisma, keyring }: Database, { scope, userId }: Actor): Promise<void> {
  const { organizationId } = scope;
  const issuer = 'https://login.example';
  const clientSecret = keyring.encrypt(Buffer.from('secret'), placeOfClientSecret(organizationId));
  await prisma.ssoConnection.create({ data: { organizationId, issuer, clientId: 'charter', clientSecret } });
  await prisma.ssoIdentity.create({ data: { organizationId, userId, issuer, subject: userId } });
}

/** Gives the organization a domain, as if a TXT record had verified it. */
export async function giveDomain({ prisma }: Database, { organizationId }: OrganizationScope, domain: string) {
  const verified = { token: 't'.repeat(32), verifiedAt: new Date() };
  await prisma.ssoDomain.create({ data: { organizationId, domain, ...verified } });
}

/** Makes the organization require single sign-on, with the user as the break-glass administrator. */
export async function requireSso({ prisma }: Database, { scope, userId }: Actor): Promise<void> {
  const enforced = { enforcedAt: new Date(), breakGlassUserId: userId };
  await prisma.ssoConnection.update({ where: { organizationId: scope.organizationId }, data: enforced });
}

/** Gives the user a passkey that no authenticator in the tests has. */
export async function givePasskey(
  { prisma }: Database,
  { scope, userId }: Pick<Actor, 'scope' | 'userId'>,
): Promise<{ id: string; userId: string }> {
  const id = newId();
  await insertPasskey(prisma, scope, {
    id,
    userId,
    credentialId: Uint8Array.from(randomBytes(32)),
    userHandle: Uint8Array.from(randomBytes(32)),
    publicKey: Uint8Array.from(randomBytes(77)),
    counter: 1,
    transports: ['internal'],
    isBackupEligible: false,
    isBackedUp: false,
    name: 'Laptop',
    createdAt: new Date(),
  });
  return { id, userId };
}

/** The password of every test account. */
export const PASSWORD = 'violet marmot drums 41 kettles';
