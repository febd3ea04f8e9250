import { createHash } from 'node:crypto';
import * as openid from 'openid-client';
import { memberOf } from '../../../domain/errors.ts';
import { SESSION_HOURS } from '../../../domain/people/session.ts';
import { type ProviderAccess, ProviderUnreachableError } from '../../provider-access.ts';

// This is the only file that uses the OpenID Connect library. It is imported when the first person signs in at a provider,
// because the library would take an eighth of the startup time, and many servers do not need it.

/** Charter as a client of an identity provider. */
export type ProviderClient = { readonly issuer: string; readonly clientId: string; readonly clientSecret: string };

/** Why the provider could not be used. `words` is a message for administrators. */
export type ProviderFailure =
  /** The provider sent no response. */
  | { readonly kind: 'unreachable'; readonly words: string }
  /** The provider, or the person there, refused the sign-in. */
  | { readonly kind: 'denied'; readonly words: string }
  /** The settings of the connection, in Charter or at the provider, are wrong. */
  | { readonly kind: 'misconfigured'; readonly words: string }
  /** The response does not belong to this request, or is invalid. */
  | { readonly kind: 'not-valid'; readonly words: string };

export type Provider = { readonly kind: 'provider'; readonly config: openid.Configuration };

/** How long the metadata of a provider are cached, and of how many providers. */
const METADATA_SECONDS = 300;
const MAX_PROVIDERS = 500;
/** How long a provider that failed is not contacted again. Anybody can make Charter contact it, by a forged logout token. */
export const RETRY_SECONDS = 10;

type Known = { readonly found: Promise<Provider | ProviderFailure>; until: number };
const known = new WeakMap<ProviderAccess, Map<string, Known>>();

/**
 * Returns the provider with its metadata, which are cached for five minutes. Concurrent calls fetch the metadata once. A failure
 * is cached for ten seconds.
 */
export async function discoverProvider(
  access: ProviderAccess,
  client: ProviderClient,
): Promise<Provider | ProviderFailure> {
  const before = known.get(access)?.get(keyOf(client));
  if (before !== undefined && performance.now() < before.until) return before.found;
  const current: Known = { found: readProvider(access, client), until: Number.POSITIVE_INFINITY };
  keep(access, client, current);
  const { kind } = await current.found;
  current.until = performance.now() + (kind === 'provider' ? METADATA_SECONDS : RETRY_SECONDS) * 1000;
  return current.found;
}

async function readProvider(access: ProviderAccess, client: ProviderClient): Promise<Provider | ProviderFailure> {
  const provider = await catchFailure(() => discover(access, client));
  if (provider.kind !== 'provider') return provider;
  const named = issuerOf(provider);
  // The issuer and the subject together identify a person, so the issuer in the metadata must equal the stored one.
  return named === client.issuer ? provider : { kind: 'misconfigured', words: otherIssuer(named) };
}

/** Caches a provider whose metadata have just been read. */
function remember(access: ProviderAccess, client: ProviderClient, provider: Provider): void {
  keep(access, client, { found: Promise.resolve(provider), until: performance.now() + METADATA_SECONDS * 1000 });
}

function keep(access: ProviderAccess, client: ProviderClient, entry: Known): void {
  const providers = known.get(access) ?? new Map<string, Known>();
  known.set(access, providers);
  providers.delete(keyOf(client));
  providers.set(keyOf(client), entry);
  // A Map keeps the order of insertion, so the oldest entries are deleted first.
  for (const each of providers.keys()) if (providers.size > MAX_PROVIDERS) providers.delete(each);
}

function keyOf({ issuer, clientId, clientSecret }: ProviderClient): string {
  return createHash('sha256')
    .update(JSON.stringify([issuer, clientId, clientSecret]))
    .digest('base64');
}

function issuerOf({ config }: Provider): string {
  return config.serverMetadata().issuer;
}

function otherIssuer(issuer: string): string {
  return `The provider says that its issuer is ${cutText(issuer)}.`;
}

async function discover(access: ProviderAccess, { issuer, clientId, clientSecret }: ProviderClient): Promise<Provider> {
  const fetch: openid.CustomFetch = (url, { method, headers, body }) =>
    access.fetch(url, { method, headers, ...(body !== undefined && body !== null && { body: String(body) }) });
  const readMetadata: openid.CustomFetch = async (url, options) => {
    const response = await fetch(url, options);
    const isJson = /^application\/(.+\+)?json\b/i.test(response.headers.get('content-type') ?? '');
    if (response.status === 200 && isJson) return response;
    const type = response.headers.get('content-type') ?? 'no media type';
    const answer =
      response.status === 200 ? `${cutText(type)} instead of application/json` : `status ${response.status}`;
    throw new NoMetadataError(
      `The answer at ${cutText(url)} is ${answer}, not the settings of a provider. Check the issuer.`,
    );
  };
  const discovered = await openid.discovery(new URL(issuer), clientId, clientSecret, undefined, {
    [openid.customFetch]: readMetadata,
    execute: access.allowHttp ? [openid.allowInsecureRequests] : [],
  });
  const metadata = discovered.serverMetadata();
  // The library would accept the metadata of Microsoft's shared issuers, by which people of any company could sign in.
  if (URL.parse(metadata.issuer)?.href !== new URL(issuer).href)
    throw new MisconfiguredError(otherIssuer(metadata.issuer));
  // Providers disagree on how to encode a secret for HTTP Basic authentication, which is the only method that they must support.
  const isPost = metadata.token_endpoint_auth_methods_supported?.includes('client_secret_post') === true;
  const config = new openid.Configuration(
    metadata,
    clientId,
    clientSecret,
    isPost ? openid.ClientSecretPost(clientSecret) : openid.ClientSecretBasic(clientSecret),
  );
  config[openid.customFetch] = fetch;
  if (access.allowHttp) openid.allowInsecureRequests(config);
  // Makes the library verify the signature of the ID token, even though the token comes directly from the provider.
  openid.enableNonRepudiationChecks(config);
  return { kind: 'provider', config };
}

class MisconfiguredError extends Error {}

/** The provider sent a response that is not valid metadata. */
class NoMetadataError extends Error {}

export type AuthorizationRequest = {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** The e-mail that was typed; empty if none was typed. */
  readonly email: string;
  /** Whether roles depend on the person's groups. */
  readonly wantsGroups: boolean;
  /** Whether the person must sign in again, even if they have a session at the provider. */
  readonly isProof: boolean;
};

/** Returns the URL at which the browser signs in. */
export async function authorizationUrl(
  { config }: Provider,
  { redirectUri, state, nonce, codeVerifier, email, wantsGroups, isProof }: AuthorizationRequest,
): Promise<{ readonly kind: 'url'; readonly url: string } | ProviderFailure> {
  return catchFailure(async () => {
    const { scopes_supported: scopes = [] } = config.serverMetadata();
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: ['openid', 'email', 'profile', ...(wantsGroups && scopes.includes('groups') ? ['groups'] : [])].join(' '),
      state,
      nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      ...(email !== '' && { login_hint: email }),
      // With `max_age`, a provider must say when the person signed in (OpenID Connect Core section 3.1.2.1).
      max_age: isProof ? '0' : String(SESSION_HOURS * 3600),
    });
    return { kind: 'url', url: url.href };
  });
}

/** The claims about a person whom the provider has authenticated. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/**
 * A claim to request. `isNeeded` means that the sign-in fails if the ID token lacks the claim and the UserInfo endpoint fails.
 */
export type WantedClaim = { readonly name: string; readonly isNeeded: boolean };

/**
 * Exchanges the code for the claims about the person. `url` is the redirect URI with the parameters of the response. The claims
 * in `wanted` are requested from the UserInfo endpoint if the ID token lacks them.
 */
export async function redeemCode(
  { config }: Provider,
  url: URL,
  {
    state,
    nonce,
    codeVerifier,
    wanted,
  }: Pick<AuthorizationRequest, 'state' | 'nonce' | 'codeVerifier'> & { readonly wanted: readonly WantedClaim[] },
): Promise<{ readonly kind: 'claims'; readonly claims: Claims } | ProviderFailure> {
  return catchFailure(async () => {
    const tokens = await openid.authorizationCodeGrant(config, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('The response has no ID token.');
    const more = await fetchMoreClaims(config, { claims, accessToken: tokens.access_token, wanted });
    const email_verified = verificationOf(claims, more);
    // The claims of the signed ID token come last, so that they override the claims of the UserInfo endpoint. `auth_time` comes
    // from the ID token only.
    return { kind: 'claims', claims: { ...more, ...claims, auth_time: claims.auth_time, email_verified } };
  });
}

type MoreClaims = Readonly<Record<string, unknown>>;

/** Fetches the claims of the UserInfo endpoint if there is such an endpoint and the ID token lacks a wanted claim. */
async function fetchMoreClaims(
  config: openid.Configuration,
  {
    claims,
    accessToken,
    wanted,
  }: { readonly claims: Claims; readonly accessToken: string; readonly wanted: readonly WantedClaim[] },
): Promise<MoreClaims> {
  const missing = wanted.filter(({ name }) => claims[name] === undefined);
  if (missing.length === 0 || config.serverMetadata().userinfo_endpoint === undefined) return {};
  try {
    return await openid.fetchUserInfo(config, accessToken, claims.sub);
  } catch (error) {
    if (missing.some(({ isNeeded }) => isNeeded)) throw error;
    return {};
  }
}

/**
 * Returns whether the e-mail is verified, according to the source of the e-mail, which is the ID token or the UserInfo endpoint.
 * If that source does not say, returns what the other source says, unless the other source has another e-mail.
 */
function verificationOf(claims: Claims, more: MoreClaims): unknown {
  const [source, other] = claims['email'] === undefined ? [more, claims] : [claims, more];
  if (source['email_verified'] !== undefined) return source['email_verified'];
  const isOther = other['email'] !== undefined && other['email'] !== source['email'];
  return isOther ? undefined : other['email_verified'];
}

/** Returns the metadata that are needed to verify logout tokens. `jwksUrl` is `null` if the provider publishes none. */
export function logoutMetadata({ config }: Provider) {
  const { issuer, jwks_uri, id_token_signing_alg_values_supported: algorithms } = config.serverMetadata();
  return { issuer, jwksUrl: URL.parse(jwks_uri ?? ''), algorithms: Array.isArray(algorithms) ? algorithms : ['RS256'] };
}

/** The errors of the token endpoint that are due to the client's settings (RFC 6749 section 5.2). */
const CLIENT_ERRORS = ['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'];

async function catchFailure<T>(act: () => Promise<T>): Promise<T | ProviderFailure> {
  try {
    return await act();
  } catch (error) {
    return failureOf(error);
  }
}

/**
 * Returns the failure for an error of the library, which is always due to the provider's response or the connection's settings.
 */
function failureOf(error: unknown): ProviderFailure {
  for (let each = error, depth = 0; depth < 5; each = memberOf(each, 'cause'), depth += 1) {
    if (each instanceof ProviderUnreachableError) return { kind: 'unreachable', words: each.message };
    if (each instanceof NoMetadataError) return { kind: 'not-valid', words: each.message };
  }
  if (error instanceof MisconfiguredError) return { kind: 'misconfigured', words: error.message };
  if (error instanceof openid.AuthorizationResponseError)
    return { kind: 'denied', words: cutText(error.error_description ?? error.error) };
  if (error instanceof openid.WWWAuthenticateChallengeError)
    return { kind: 'misconfigured', words: 'The provider refused the client ID or the client secret.' };
  if (error instanceof openid.ResponseBodyError) {
    const isOfClient = CLIENT_ERRORS.includes(error.error) || error.status === 401;
    return isOfClient
      ? {
          kind: 'misconfigured',
          words: `The provider refused the client ID or the client secret (${cutText(error.error)}).`,
        }
      : { kind: 'not-valid', words: cutText(error.error) };
  }
  const code = memberOf(error, 'code');
  const cause = memberOf(error, 'cause');
  if (code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED' && memberOf(cause, 'attribute') === 'issuer')
    return { kind: 'misconfigured', words: otherIssuer(String(memberOf(memberOf(cause, 'body'), 'issuer'))) };
  if (code === 'OAUTH_MISSING_SERVER_METADATA' || code === 'OAUTH_INVALID_SERVER_METADATA')
    return { kind: 'misconfigured', words: 'The provider does not name all of its addresses.' };
  return { kind: 'not-valid', words: cutText(error instanceof Error ? error.message : 'unknown') };
}

/** Returns a text from the provider without special characters, and shortened so that it can be shown. */
function cutText(text: string): string {
  return text.replace(/[^\p{L}\p{N} .,:;_()/'-]/gu, ' ').slice(0, 200);
}

/** The provider can be used, and has this issuer. */
export type Tried = { readonly kind: 'tried'; readonly issuer: string; readonly isSecretProven: boolean };

/**
 * Checks that the provider can be reached, publishes this issuer and its keys, and accepts the client and its secret. To check
 * the secret, sends a code that the provider has not issued: a provider that accepts the client refuses only the code.
 */
export async function tryProvider(
  access: ProviderAccess,
  client: ProviderClient,
  redirectUri: string,
): Promise<Tried | ProviderFailure> {
  const provider = await discoverTypedIssuer(access, client);
  if (provider.kind !== 'provider') return provider;
  const { config } = provider;
  const issuer = issuerOf(provider);
  remember(access, { ...client, issuer }, provider);
  const offered = await catchFailure(async () => {
    openid.buildAuthorizationUrl(config, {});
    const { response_types_supported: types, jwks_uri } = config.serverMetadata();
    if (jwks_uri === undefined || (types !== undefined && !(Array.isArray(types) && types.includes('code'))))
      throw new MisconfiguredError('The provider does not offer the authorization code flow.');
    const response = await access.fetch(jwks_uri, { method: 'GET', headers: { accept: 'application/json' } });
    const body: unknown = await response.json();
    if (response.status !== 200 || !Array.isArray(memberOf(body, 'keys')))
      throw new MisconfiguredError('The provider does not publish its keys.');
    return { kind: 'offered' } as const;
  });
  if (offered.kind !== 'offered') return offered;
  const url = new URL(redirectUri);
  url.searchParams.set('code', 'charter-tries-the-connection');
  url.searchParams.set('state', 'try');
  url.searchParams.set('iss', issuer);
  const sent = { state: 'try', nonce: 'try', codeVerifier: openid.randomPKCECodeVerifier() };
  try {
    await openid.authorizationCodeGrant(config, url, {
      expectedState: sent.state,
      expectedNonce: sent.nonce,
      pkceCodeVerifier: sent.codeVerifier,
    });
  } catch (error) {
    const isKnown = error instanceof openid.ResponseBodyError && error.error === 'invalid_grant';
    if (isKnown) return { kind: 'tried', issuer, isSecretProven: true };
    const failure = failureOf(error);
    return failure.kind === 'not-valid' ? { kind: 'tried', issuer, isSecretProven: false } : failure;
  }
  return { kind: 'tried', issuer, isSecretProven: false };
}

/** Fetches the metadata, without the cache. The issuer may be typed with or without a trailing slash. */
async function discoverTypedIssuer(
  access: ProviderAccess,
  client: ProviderClient,
): Promise<Provider | ProviderFailure> {
  const { issuer } = client;
  const typed = await catchFailure(() => discover(access, client));
  if (typed.kind !== 'misconfigured') return typed;
  const other = issuer.endsWith('/') ? issuer.slice(0, -1) : `${issuer}/`;
  const found = await catchFailure(() => discover(access, { ...client, issuer: other }));
  return found.kind === 'provider' ? found : typed;
}
