import * as openid from 'openid-client';
import { memberOf } from '../../../store/sql/error-code.ts';
import {
  attempt,
  discover,
  failureOf,
  issuerOf,
  MisconfiguredError,
  type Provider,
  type ProviderClient,
  type ProviderFailure,
  remember,
} from './provider.ts';
import type { ProviderAccess } from './provider-access.ts';

/** `issuer`: as the provider names it. */
export type Tried = { readonly kind: 'tried'; readonly issuer: string; readonly isSecretProven: boolean };

/**
 * Tries whether the provider can be reached, names this issuer and its keys, and accepts the client and its secret. For the
 * latter it sends a code that the provider has not issued: a provider that knows the client refuses the code.
 */
export async function tryProvider(
  access: ProviderAccess,
  client: ProviderClient,
  redirectUri: string,
): Promise<Tried | ProviderFailure> {
  const provider = await findTyped(access, client);
  if (provider.kind !== 'provider') return provider;
  const { config } = provider;
  const issuer = issuerOf(provider);
  remember(access, { ...client, issuer }, provider);
  const offered = await attempt(async () => {
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

/** Reads the metadata anew. The issuer may be typed with or without its last slash. */
async function findTyped(access: ProviderAccess, client: ProviderClient): Promise<Provider | ProviderFailure> {
  const { issuer } = client;
  const typed = await attempt(() => discover(access, client));
  if (typed.kind !== 'misconfigured') return typed;
  const other = issuer.endsWith('/') ? issuer.slice(0, -1) : `${issuer}/`;
  const found = await attempt(() => discover(access, { ...client, issuer: other }));
  return found.kind === 'provider' ? found : typed;
}
