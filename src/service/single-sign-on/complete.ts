import type { AuditSource } from '../../domain/actor.ts';
import type { OrganizationScope } from '../../domain/organization-scope.ts';
import { hashToken } from '../../domain/session.ts';
import { deriveNonceAndVerifier, hashBrowserSecret } from '../../domain/single-sign-on.ts';
import { recordAudit } from '../../store/audit.ts';
import { type Database, transaction } from '../../store/database.ts';
import { deleteSsoSignIn, findSsoSignIn, type SsoSignInRecord } from '../../store/sso-sign-ins.ts';
import { clearAttempt, rememberNetwork } from '../accounts/attempt-limits.ts';
import { admit } from './admit.ts';
import { attemptOf, isOpen, type SignInDeps } from './begin.ts';
import { personOf } from './claims.ts';
import { BY_SINGLE_SIGN_ON, type Completion, LOST, type NotAdmitted, type NotProven } from './completion.ts';
import { provePerson, recordFailedProof } from './prove-person.ts';
import type { ProviderFailure } from './provider.ts';
import { type Connection, connectionUrls } from './scope.ts';

type Response = {
  readonly origin: string;
  readonly browserSecret: string;
  /** Of the browser's session; `null` if it has none. */
  readonly token: string | null;
  /** The parameters with which the browser came back. */
  readonly parameters: URLSearchParams;
  readonly auditSource: AuditSource;
  readonly now: Date;
};

/** Completes the sign-in with which the browser comes back from the provider. */
export async function completeSignIn(
  { db, access, inTurn }: SignInDeps,
  connection: Connection,
  { origin, browserSecret, token, parameters, auditSource, now }: Response,
): Promise<Completion> {
  const { scope, record, client } = connection;
  const state = parameters.get('state') ?? '';
  const tokenHash = hashToken(state);
  if (tokenHash === null) return LOST;
  const browserHash = hashBrowserSecret(browserSecret);
  const signIn = await inTurn(() => takeSignIn(db, scope, { tokenHash, browserHash }));
  // The provider of another issuer must not complete what was begun at this one (mix-up).
  if (signIn === null || signIn.person !== null || signIn.issuer !== record.issuer || !isOpen(signIn, now)) return LOST;
  const fail = async <F extends ProviderFailure | NotAdmitted | NotProven>(failure: F, why: string): Promise<F> => {
    const event = { why, auditSource };
    await inTurn(() =>
      signIn.isProof ? recordFailedProof(db, scope, { ...event, token }) : recordFailure(db, scope, event),
    );
    return failure;
  };
  const { findProvider, redeemCode } = await import('./provider.ts');
  const provider = await findProvider(access, client);
  if (provider.kind !== 'provider') return fail(provider, provider.words);
  const url = new URL(connectionUrls(origin, scope.organizationId).redirectUri);
  url.search = parameters.toString();
  const redeemed = await redeemCode(provider, url, {
    state,
    ...deriveNonceAndVerifier({ browserSecret, state }),
  });
  if (redeemed.kind !== 'claims') return fail(redeemed, redeemed.words);
  const person = personOf(redeemed.claims, signIn);
  if (person === null)
    return fail({ kind: 'not-valid', words: 'The subject is too long.' }, 'The subject is too long.');
  if (signIn.isProof) {
    const proven = await inTurn(() => provePerson(db, connection, { person, signIn, token, now }));
    if (proven.kind === 'not-proven') return fail(proven, proven.reason);
    if (proven.kind === 'lost') return proven;
    await inTurn(() => countSuccess(db, { ...signIn, scope, auditSource }));
    return proven;
  }
  const admitted = await inTurn(() => admit(db, connection, { person, signIn, browserHash, auditSource, now }));
  if (admitted.kind === 'not-admitted') return fail(admitted, admitted.reason);
  if (admitted.kind === 'signed-in') await inTurn(() => countSuccess(db, { ...signIn, scope, auditSource }));
  return admitted;
}

/** The sign-in that this browser began, which cannot be completed again. */
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
  { why, auditSource }: { readonly why: string; readonly auditSource: AuditSource },
): Promise<void> {
  const detail = { step: BY_SINGLE_SIGN_ON, why };
  await recordAudit(db.prisma, scope, { action: 'user.sign_in_failed', actorUserId: null, detail, auditSource });
}

export async function countSuccess(
  db: Database,
  { scope, email, auditSource }: { scope: OrganizationScope; email: string; auditSource: AuditSource },
): Promise<void> {
  const attempt = attemptOf({ organizationId: scope.organizationId, email }, auditSource);
  await clearAttempt(db, attempt);
  if (email !== '') await rememberNetwork(db, attempt);
}
