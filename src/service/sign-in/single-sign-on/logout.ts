import { createHash } from 'node:crypto';
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  type JWTPayload,
  jwtVerify,
  type RemoteJWKSet,
} from 'jose';
import type { AuditSource } from '../../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import { BY_SINGLE_SIGN_ON, recordAudit } from '../../../store/audit/audit.ts';
import { endSsoSessionsOf, listUsersBySid } from '../../../store/people/sessions.ts';
import { deleteUnconfirmed, findSsoUser } from '../../../store/people/single-sign-on.ts';
import { claimIdempotencyKey } from '../../../store/resources/idempotency-keys.ts';
import { type Transaction, transaction } from '../../../store/sql/database.ts';
import { CLOCK_SECONDS, type ProviderAccess, ProviderUnreachableError } from '../../provider-access.ts';
import type { SignInDeps } from './begin.ts';
import type { Connection } from './connection.ts';
import {
  discoverProvider,
  logoutMetadata,
  type Provider,
  type ProviderClient,
  type ProviderFailure,
  RETRY_SECONDS,
} from './provider.ts';

// This file implements OpenID Connect Back-Channel Logout 1.0.

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** The maximum age of a logout token. Providers send the token as soon as they have created it. */
const MAX_AGE_SECONDS = 300;
/**
 * The algorithms that sign with a private key of the provider. "none", and algorithms that use the client secret, are not
 * accepted.
 */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

export type LoggedOut = { readonly kind: 'done' };
export type LogoutRefused = { readonly kind: 'refused'; readonly words: string };

/** Ends the sessions to which a logout token of the provider refers. API keys stay valid. */
export async function logOut(
  { db, access, inTurn }: SignInDeps,
  { scope, record, client }: Connection,
  { token, auditSource, now }: { readonly token: string; readonly auditSource: AuditSource; readonly now: Date },
): Promise<LoggedOut | LogoutRefused | ProviderFailure> {
  // Anybody can send a token, so the provider is contacted only if the token says that it is from this provider.
  if (!isForClient(token, record)) return { kind: 'refused', words: 'The token is not for this client.' };
  const provider = await discoverProvider(access, client);
  if (provider.kind !== 'provider') return provider;
  const verified = await verify(token, { provider, access, clientId: record.clientId, now });
  if (verified.kind !== 'verified') return verified;
  const { sub, sid, jti } = verified;
  return inTurn(() =>
    transaction(db, async (tx) => {
      const hash = createHash('sha256').update(jti).digest();
      const claim = { key: `logout token ${hash.toString('base64url')}`, requestHash: hash };
      if ((await claimIdempotencyKey(tx, scope, claim)).kind !== 'claimed')
        return { kind: 'refused', words: 'The token was used before.' } as const;
      const { issuer } = record;
      const sids = sidsOf({ sub, sid });
      // A confirmation that is still open would start a session, although the session at the provider has ended.
      await deleteUnconfirmed(tx, scope, { issuer, subject: sub, sids });
      for (const userId of await listUsers(tx, scope, { issuer, sub, sid })) {
        const ended = await endSsoSessionsOf(tx, scope, { userId, sids });
        if (ended === 0) continue;
        await recordAudit(tx, scope, {
          action: 'user.signed_out',
          actorUserId: null,
          targetUserId: userId,
          detail: { by: BY_SINGLE_SIGN_ON },
          auditSource,
        });
      }
      return { kind: 'done' } as const;
    }),
  );
}

type Named = { readonly issuer: string; readonly sub: string | null; readonly sid: string | null };

async function listUsers(tx: Transaction, scope: OrganizationScope, { issuer, sub, sid }: Named): Promise<string[]> {
  if (sub === null) return sid === null ? [] : listUsersBySid(tx, scope, sid);
  const userId = await findSsoUser(tx, scope, { issuer, subject: sub });
  return userId === null ? [] : [userId];
}

/**
 * Returns the provider's ids of the sessions to end, or `undefined` for all sessions of the person. A token with both `sub` and
 * `sid` also ends the person's sessions without an id (stored as ''), because only `sub` can identify them.
 */
function sidsOf({ sub, sid }: Omit<Named, 'issuer'>): readonly string[] | undefined {
  if (sid === null) return undefined;
  return sub === null ? [sid] : [sid, ''];
}

function isForClient(token: string, { issuer, clientId }: Pick<ProviderClient, 'issuer' | 'clientId'>): boolean {
  try {
    const { iss, aud } = decodeJwt(token);
    return iss === issuer && [aud].flat().includes(clientId);
  } catch {
    return false;
  }
}

type Verified = {
  readonly kind: 'verified';
  readonly jti: string;
  readonly sub: string | null;
  readonly sid: string | null;
};

const keySets = new WeakMap<Provider, RemoteJWKSet>();

async function verify(
  token: string,
  { provider, access, clientId, now }: { provider: Provider; access: ProviderAccess; clientId: string; now: Date },
): Promise<Verified | LogoutRefused | ProviderFailure> {
  const { issuer, jwksUrl, algorithms } = logoutMetadata(provider);
  if (jwksUrl === null) return { kind: 'misconfigured', words: 'The provider does not publish its keys.' };
  const keys = keySets.get(provider) ?? keySetOf(jwksUrl, access);
  keySets.set(provider, keys);
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer,
      audience: clientId,
      algorithms: ALGORITHMS.filter((each) => algorithms.includes(each)),
      requiredClaims: ['iat', 'jti'],
      maxTokenAge: MAX_AGE_SECONDS,
      clockTolerance: CLOCK_SECONDS,
      currentDate: now,
    });
    const { typ = 'JWT' } = protectedHeader;
    if (!/^(application\/)?(logout\+)?jwt$/i.test(typ)) return logoutRefusalOf('The token is not a logout token.');
    return claimsOf(payload);
  } catch (error) {
    if (error instanceof ProviderUnreachableError) return { kind: 'unreachable', words: error.message };
    if (error instanceof errors.JOSEError) return logoutRefusalOf(error.message);
    throw error;
  }
}

/**
 * Returns the signing keys of the provider. Limits the requests for the keys, because the library would send one for each token
 * until a request succeeds. After that, the library itself sends a request for an unknown key at most every 30 seconds.
 */
function keySetOf(jwksUrl: URL, access: ProviderAccess): RemoteJWKSet {
  let askedAt = Number.NEGATIVE_INFINITY;
  return createRemoteJWKSet(jwksUrl, {
    async [customFetch](url, { method, headers }) {
      if (performance.now() - askedAt < RETRY_SECONDS * 1000)
        throw new ProviderUnreachableError('The provider did not publish its keys some seconds ago.');
      askedAt = performance.now();
      return access.fetch(url, { method, headers: Object.fromEntries(headers) });
    },
  });
}

/** Validates the claims (OpenID Connect Back-Channel Logout 1.0, section 2.6). */
function claimsOf({ jti, sub, sid, events, nonce }: JWTPayload): Verified | LogoutRefused {
  const event: unknown = typeof events === 'object' && events !== null ? Reflect.get(events, LOGOUT_EVENT) : undefined;
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    return logoutRefusalOf('The token is not a logout token.');
  if (nonce !== undefined) return logoutRefusalOf('A logout token has no nonce.');
  const [subject, session] = [nameOf(sub), nameOf(sid)];
  if (jti === undefined || jti === '') return logoutRefusalOf('The token has no ID.');
  if (subject === null && session === null) return logoutRefusalOf('The token names neither a person nor a session.');
  return { kind: 'verified', jti, sub: subject, sid: session };
}

/**
 * Returns the claim, or `null` if it cannot be the stored id of a subject or session: if it is not a string, is empty or has
 * control characters.
 */
function nameOf(claim: unknown): string | null {
  return typeof claim === 'string' && claim !== '' && !/\p{C}/u.test(claim) ? claim : null;
}

function logoutRefusalOf(words: string): LogoutRefused {
  return { kind: 'refused', words };
}
