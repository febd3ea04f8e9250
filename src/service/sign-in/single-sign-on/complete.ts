import type { AuditSource } from '../../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import { hashToken } from '../../../domain/people/session.ts';
import { deriveNonceAndVerifier, hashBrowserSecret } from '../../../domain/people/single-sign-on.ts';
import { BY_SINGLE_SIGN_ON, recordAudit } from '../../../store/audit/audit.ts';
import { recordProof } from '../../../store/people/sessions.ts';
import {
  deleteSsoSignIn,
  findSsoSignIn,
  findSsoUser,
  type SsoSignInRecord,
} from '../../../store/people/single-sign-on.ts';
import { lockUser } from '../../../store/people/users.ts';
import { type Database, transaction } from '../../../store/sql/database.ts';
import { findSessionByHash } from '../../../store/unscoped/people.ts';
import { unlessMoving } from '../../outcome.ts';
import { CLOCK_SECONDS } from '../../provider-access.ts';
import { clearAttempt, rememberNetwork } from '../attempt-limits.ts';
import { admit } from './admit.ts';
import { attemptOf, isOpen, type SignInDeps } from './begin.ts';
import { claimsFor, type Person, personOf, provedAtOf } from './claims.ts';
import {
  type AfterProof,
  type Completion,
  LOST,
  type Lost,
  type NotAdmitted,
  type NotProven,
  type NotProvenReason,
  type ProvenByProvider,
  type SignedInByProvider,
} from './completion.ts';
import { type Connection, connectionUrls, shareConnection } from './connection.ts';
import type { ProviderFailure } from './provider.ts';

type Response = {
  readonly origin: string;
  readonly browserSecret: string;
  /** The token of the browser's session; `null` if the browser has no session. */
  readonly token: string | null;
  /** The parameters of the URL with which the browser came back. */
  readonly parameters: URLSearchParams;
  readonly auditSource: AuditSource;
  readonly now: Date;
};

export async function completeSignIn(
  deps: SignInDeps,
  connection: Connection,
  response: Response,
): Promise<Completion> {
  const { db, inTurn } = deps;
  const { scope } = connection;
  const tokenHash = hashToken(response.parameters.get('state') ?? '');
  if (tokenHash === null) return LOST;
  const browserHash = hashBrowserSecret(response.browserSecret);
  const signIn = await inTurn(() => takeSignIn(db, scope, { tokenHash, browserHash }));
  if (signIn === null) return LOST;
  const { next, sealedForm } = signIn;
  const found = await matchPerson(deps, connection, { response, signIn });
  if (sealedForm === null) return inTurn(() => admitFound(db, connection, { ...response, found, signIn, browserHash }));
  const outcome = await inTurn(() => proveFound(db, connection, { ...response, found, signIn }));
  return { kind: 'after-proof', outcome, next, sealedForm };
}

type FoundPerson = { readonly kind: 'person'; readonly person: Person };
type Found = FoundPerson | Lost | ProviderFailure;

/** Returns the person whom the provider has authenticated. */
async function matchPerson(
  { access }: SignInDeps,
  { scope, record, client }: Connection,
  { response, signIn }: { readonly response: Response; readonly signIn: SsoSignInRecord },
): Promise<Found> {
  const { origin, browserSecret, parameters, now } = response;
  // A sign-in that began at one issuer must not be completed by the provider of another issuer (the mix-up attack, RFC 9700
  // section 4.4).
  if (signIn.issuer !== record.issuer || !isOpen(signIn, now)) return LOST;
  const { discoverProvider, redeemCode } = await import('./provider.ts');
  const provider = await discoverProvider(access, client);
  if (provider.kind !== 'provider') return provider;
  const url = new URL(connectionUrls(origin, scope.organizationId).redirectUri);
  url.search = parameters.toString();
  const state = parameters.get('state') ?? '';
  const wanted = signIn.sealedForm === null ? claimsFor(record) : [];
  const redeemed = await redeemCode(provider, url, {
    state,
    wanted,
    ...deriveNonceAndVerifier({ browserSecret, state }),
  });
  if (redeemed.kind !== 'claims') return redeemed;
  const person = personOf(redeemed.claims, signIn);
  return person === null ? { kind: 'not-valid', words: NO_SUBJECT } : { kind: 'person', person };
}

type Arrival = Response & { readonly found: Found; readonly signIn: SsoSignInRecord };

async function admitFound(
  db: Database,
  connection: Connection,
  { found, ...arrival }: Arrival & { readonly browserHash: Buffer },
): Promise<Exclude<Completion, AfterProof>> {
  const { scope } = connection;
  const { signIn, auditSource } = arrival;
  const admitted = found.kind === 'person' ? await admit(db, connection, { ...arrival, person: found.person }) : found;
  switch (admitted.kind) {
    case 'signed-in':
      await countSignIn(db, { scope, signIn, signedIn: admitted, auditSource });
      return admitted;
    case 'to-confirm':
    case 'lost':
      return admitted;
    default:
      // A person who has not proved anything gets the same response while the organization is moving.
      await (found.kind === 'person'
        ? recordFailure(db, scope, { why: whyOf(admitted), email: found.person.email, auditSource })
        : unlessMoving(undefined, () => recordFailure(db, scope, { why: whyOf(admitted), email: null, auditSource })));
      return admitted;
  }
}

async function proveFound(
  db: Database,
  connection: Connection,
  { found, ...arrival }: Arrival,
): Promise<AfterProof['outcome']> {
  const { scope } = connection;
  const { signIn, token, auditSource } = arrival;
  const proven =
    found.kind === 'person' ? await provePerson(db, connection, { ...arrival, person: found.person }) : found;
  switch (proven.kind) {
    case 'proven':
      await uncountAttempt(db, { scope, signIn, auditSource });
      return proven;
    case 'lost':
      return proven;
    default:
      await recordFailedProof(db, scope, { why: whyOf(proven), token, auditSource });
      return proven;
  }
}

/** Returns the reason for the audit log. */
function whyOf(failure: ProviderFailure | NotAdmitted | NotProven): string {
  return 'words' in failure ? failure.words : failure.reason;
}

const NO_SUBJECT = 'The subject is empty, is too long or has control characters.';

/** Removes and returns the sign-in that this browser began, so that it cannot be completed again. */
async function takeSignIn(
  db: Database,
  scope: OrganizationScope,
  key: { tokenHash: Buffer; browserHash: Buffer },
): Promise<SsoSignInRecord | null> {
  return transaction(db, async (tx) => {
    const signIn = await findSsoSignIn(tx, scope, key);
    return signIn !== null && signIn.person === null && (await deleteSsoSignIn(tx, scope, key)) ? signIn : null;
  });
}

async function recordFailure(
  db: Database,
  scope: OrganizationScope,
  {
    why,
    email,
    auditSource,
  }: { readonly why: string; readonly email: string | null; readonly auditSource: AuditSource },
): Promise<void> {
  const detail = { step: BY_SINGLE_SIGN_ON, why, ...(email !== null && { email }) };
  const event = { action: 'user.sign_in_failed', actorUserId: null, detail, auditSource } as const;
  await transaction(db, (tx) => recordAudit(tx, scope, event));
}

type Begun = {
  readonly scope: OrganizationScope;
  readonly signIn: Pick<SsoSignInRecord, 'email'>;
  readonly auditSource: AuditSource;
};

/**
 * Uncounts the attempt, and remembers the network for the organization and for the account that signed in. Does not remember the
 * network for the e-mail that was typed when the sign-in began, because anybody can type the e-mail of somebody else, and could
 * then try more passwords for that e-mail.
 */
export async function countSignIn(
  db: Database,
  { signedIn, ...begun }: Begun & { readonly signedIn: Pick<SignedInByProvider, 'email'> },
): Promise<void> {
  await uncountAttempt(db, begun);
  const { organizationId } = begun.scope;
  for (const account of [signedIn.email, organizationId])
    await rememberNetwork(db, { account, ip: begun.auditSource.ip });
}

/** Uncounts the attempt that was counted when the sign-in began. */
async function uncountAttempt(db: Database, { scope, signIn, auditSource }: Begun): Promise<void> {
  await clearAttempt(db, attemptOf({ organizationId: scope.organizationId, email: signIn.email }, auditSource));
}

type Proving = {
  readonly person: Person;
  readonly signIn: SsoSignInRecord;
  /** The token of the browser's session; `null` if the browser has no session. */
  readonly token: string | null;
  readonly now: Date;
};

/**
 * Records that the person has proved to be the user of the browser's session. The time of the proof is that of the sign-in at the
 * provider.
 */
async function provePerson(
  db: Database,
  connection: Connection,
  { person, signIn, token, now }: Proving,
): Promise<ProvenByProvider | NotProven | Lost> {
  const { scope } = connection;
  const notProven = (reason: NotProvenReason): NotProven => ({ kind: 'not-proven', reason });
  const at = provedAtOf(person, now);
  if (at === null) return notProven('no-time');
  if (at.getTime() < signIn.createdAt.getTime() - CLOCK_SECONDS * 1000) return notProven('not-anew');
  const tokenHash = hashToken(token ?? '');
  return transaction(db, async (tx) => {
    const userId = await findSsoUser(tx, scope, person);
    if (userId === null || tokenHash === null) return notProven('other-session');
    await lockUser(tx, scope, userId);
    if ((await shareConnection(tx, connection)) === null) return LOST;
    const isProven = await recordProof(tx, scope, { userId, tokenHash, at });
    return isProven ? { kind: 'proven' } : notProven('other-session');
  });
}

/**
 * Records a failed proof, with the user of the browser's session if the session still exists and belongs to this organization.
 */
async function recordFailedProof(
  db: Database,
  scope: OrganizationScope,
  { token, why, auditSource }: { token: string | null; why: string; auditSource: AuditSource },
): Promise<void> {
  const tokenHash = hashToken(token ?? '');
  const session = tokenHash === null ? null : await findSessionByHash(db, tokenHash);
  const userId = session?.organizationId === scope.organizationId ? session.userId : null;
  const detail = { with: BY_SINGLE_SIGN_ON, why };
  const event = {
    action: 'user.proof_failed',
    actorUserId: userId,
    targetUserId: userId,
    detail,
    auditSource,
  } as const;
  await transaction(db, (tx) => recordAudit(tx, scope, event));
}
