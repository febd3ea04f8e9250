import type { AuditSource } from '../../../domain/audit/actor.ts';
import { deriveNonceAndVerifier, hashBrowserSecret, SIGN_IN_MINUTES } from '../../../domain/people/single-sign-on.ts';
import { MINUTE_MS } from '../../../domain/time.ts';
import { insertSsoSignIn } from '../../../store/people/single-sign-on.ts';
import { type Database, transaction } from '../../../store/sql/database.ts';
import type { RateLimited } from '../../outcome.ts';
import type { ProviderAccess } from '../../provider-access.ts';
import { type Attempt, consumeAttempt } from '../attempt-limits.ts';
import { createHashedToken } from '../sessions.ts';
import { LOST, type Lost } from './completion.ts';
import { type Connection, connectionUrls, shareConnection } from './connection.ts';
import type { ProviderFailure } from './provider.ts';

/**
 * Runs a task when it is the organization's turn to use the database. Requests to the provider run outside of such tasks, because
 * they may be slow.
 */
export type InTurn = <T>(task: () => Promise<T>) => Promise<T>;

export type SignInDeps = { readonly db: Database; readonly access: ProviderAccess; readonly inTurn: InTurn };

export type SignInRequest = {
  /** The origin of this server's public URL. */
  readonly origin: string;
  /** The secret in the cookie of the browser. */
  readonly browserSecret: string;
  /** The path of the dashboard to which the user is redirected after the sign-in. */
  readonly next: string;
  /** The e-mail that was typed, in lower case; empty if the sign-in began at the provider's page. */
  readonly email: string;
  /** The SHA-256 of the token of the access link from which the sign-in begins; omitted or `null` if it begins without a link. */
  readonly linkHash?: Buffer | null;
  /**
   * The form that waits for a proof, encrypted. If it is given, the sign-in is a proof: the provider only proves who the
   * session's user is, and no session starts.
   */
  readonly sealedForm?: Buffer | null;
  readonly auditSource: AuditSource;
  readonly now: Date;
};

/** The sign-in has begun. The browser must be redirected to `url`. */
export type SignInBegun = { readonly kind: 'begun'; readonly url: string };

/**
 * Begins a sign-in of this browser at the identity provider. The sign-in must be completed within ten minutes. Returns "lost" if
 * the connection was changed or removed meanwhile.
 */
export async function beginSignIn(
  { db, access, inTurn }: SignInDeps,
  connection: Connection,
  { origin, browserSecret, next, email, linkHash = null, sealedForm = null, auditSource, now }: SignInRequest,
): Promise<SignInBegun | Lost | ProviderFailure | RateLimited> {
  const { scope, record, client } = connection;
  const admission = await inTurn(() => consumeAttempt(db, attemptOf({ ...record, email }, auditSource)));
  if (admission.kind === 'rate-limited') return admission;
  const { discoverProvider, authorizationUrl } = await import('./provider.ts');
  const provider = await discoverProvider(access, client);
  if (provider.kind !== 'provider') return provider;
  const { token: state, tokenHash } = createHashedToken();
  const { redirectUri } = connectionUrls(origin, scope.organizationId);
  const wantsGroups = record.groupsClaim !== '';
  const authorization = await authorizationUrl(provider, {
    redirectUri,
    state,
    email,
    wantsGroups,
    isProof: sealedForm !== null,
    ...deriveNonceAndVerifier({ browserSecret, state }),
  });
  if (authorization.kind !== 'url') return authorization;
  const { issuer } = record;
  const browserHash = hashBrowserSecret(browserSecret);
  const signIn = { tokenHash, browserHash, issuer, next, email, sealedForm, linkHash, person: null, createdAt: now };
  return inTurn(() =>
    transaction(db, async (tx) => {
      if ((await shareConnection(tx, connection)) === null) return LOST;
      await insertSsoSignIn(tx, scope, signIn);
      return { kind: 'begun', url: authorization.url };
    }),
  );
}

/** Returns the attempt that the rate limits count for a sign-in. */
export function attemptOf(
  { organizationId, email }: { readonly organizationId: string; readonly email: string },
  { ip }: AuditSource,
): Attempt {
  return email === ''
    ? { at: 'single-sign-on-tile', account: organizationId, ip }
    : { at: 'single-sign-on', account: email, ip };
}

/** Returns whether a sign-in that began at `createdAt` may still be completed. */
export function isOpen({ createdAt }: { readonly createdAt: Date }, now: Date): boolean {
  return now.getTime() - createdAt.getTime() < SIGN_IN_MINUTES * MINUTE_MS;
}
