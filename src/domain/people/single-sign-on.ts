import { createHash, createHmac, randomBytes } from 'node:crypto';
import { invalidField } from '../errors.ts';
import type { WebhookTargets } from '../forbidden-address.ts';
import type { Role } from './role.ts';

// With single sign-on, the people of an organization sign in at the organization's identity provider (OpenID Connect).

/** How long a sign-in at the provider may take, and how long its confirmation may take after that. */
export const SIGN_IN_MINUTES = 10;
export const MAX_DOMAINS = 20;
export const MAX_GROUP_ROLES = 50;
const MAX_ISSUER_CHARACTERS = 500;
const MAX_CLIENT_ID_CHARACTERS = 255;
/** The maximum length of a client secret in UTF-8. */
const MAX_SECRET_BYTES = 2048;

/** The roles that single sign-on may give to new people. */
export const NEW_PEOPLE_ROLES = ['viewer', 'member'] as const satisfies readonly Role[];
export type NewPeopleRole = (typeof NEW_PEOPLE_ROLES)[number];
export const GROUP_ROLES = ['viewer', 'member', 'manager'] as const satisfies readonly Role[];
export type GroupRole = (typeof GROUP_ROLES)[number];
export type GroupRoleRule = { readonly groupName: string; readonly role: GroupRole };

/** Returns the normal form of an issuer. Throws an error for the field "issuer". */
export function parseIssuer(text: string, { allowHttp }: WebhookTargets): string {
  const issuer = text.trim();
  const url = URL.parse(issuer);
  if (url === null || !/^https?:\/\/[^/]/.test(issuer))
    throw invalidField('issuer', 'must be a whole URL, such as https://login.example.org.');
  if (url.protocol !== 'https:' && !allowHttp) throw invalidField('issuer', 'must begin with https://.');
  if (url.username !== '' || url.password !== '' || /[?#]/.test(issuer))
    throw invalidField('issuer', 'must have no user name, password, query or fragment.');
  if (/\/\.well-known\//.test(issuer))
    throw invalidField('issuer', 'must be the address before "/.well-known/openid-configuration".');
  if (issuer.length > MAX_ISSUER_CHARACTERS || !isPrintable(issuer))
    throw invalidField('issuer', `must have at most ${MAX_ISSUER_CHARACTERS} characters, and no spaces.`);
  return issuer;
}

export function parseClientId(text: string): string {
  const clientId = text.trim();
  if (clientId === '') throw invalidField('client_id', 'must not be blank.');
  if ([...clientId].length > MAX_CLIENT_ID_CHARACTERS || !isPrintable(clientId))
    throw invalidField('client_id', `must have at most ${MAX_CLIENT_ID_CHARACTERS} characters, and no spaces.`);
  return clientId;
}

export function parseClientSecret(text: string): string {
  const secret = text.trim();
  if (secret === '') throw invalidField('client_secret', 'must not be blank.');
  if (Buffer.byteLength(secret) > MAX_SECRET_BYTES || !isPrintable(secret))
    throw invalidField('client_secret', `must have at most ${MAX_SECRET_BYTES} characters, and no spaces.`);
  return secret;
}

/** Returns whether the text is not empty and has neither spaces nor control characters. */
function isPrintable(text: string): boolean {
  return /^[^\s\p{C}]+$/u.test(text);
}

export function mintDomainToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Returns the TXT record that verifies a domain. */
export function txtRecordOf({ domain, token }: { readonly domain: string; readonly token: string }) {
  return { name: `_charter-challenge.${domain}`, value: `charter-verification=${token}` };
}

/** Returns the name of the claim, or an empty string if the text is blank. Throws an error for the field "groups_claim". */
export function parseGroupsClaim(text: string): string {
  const claim = text.trim();
  if (claim !== '' && !(isPrintable(claim) && [...claim].length <= 100))
    throw invalidField('groups_claim', 'must have at most 100 characters, and no spaces.');
  return claim;
}

/** Parses lines of the form "group = role". Throws an error for the field "group_roles". */
export function parseGroupRoles(text: string): GroupRoleRule[] {
  const lines = text
    .split('\n')
    .map((line, i) => ({ line: line.trim(), number: i + 1 }))
    .filter(({ line }) => line !== '');
  if (lines.length > MAX_GROUP_ROLES) throw invalidField('group_roles', `must have at most ${MAX_GROUP_ROLES} lines.`);
  const rules = lines.map(({ line, number }) => {
    const at = line.lastIndexOf('=');
    const groupName = line.slice(0, Math.max(at, 0)).trim();
    const role = GROUP_ROLES.find(
      (each) =>
        each ===
        line
          .slice(at + 1)
          .trim()
          .toLowerCase(),
    );
    if (at < 1 || role === undefined || groupName === '' || [...groupName].length > 255 || /\p{C}/u.test(groupName))
      throw invalidField(
        'group_roles',
        `has a mistake in line ${number}: write a group, "=" and viewer, member or manager.`,
      );
    return { groupName, role };
  });
  const repeated = rules.findIndex(({ groupName }, i) => rules.findIndex((rule) => rule.groupName === groupName) < i);
  if (repeated !== -1)
    throw invalidField(
      'group_roles',
      `has a mistake in line ${lines[repeated]?.number}: an earlier line names the same group.`,
    );
  return rules;
}

/** Returns whether a domain is reserved for examples and tests, so that it has no TXT records (RFC 2606 and RFC 6761). */
export function isReservedDomain(domain: string): boolean {
  return /(^|\.)(example|test|invalid|localhost)$/.test(domain) || /(^|\.)example\.(com|net|org)$/.test(domain);
}

/** Returns the SHA-256 of the secret in the cookie that ties a sign-in to its browser. */
export function hashBrowserSecret(secret: string): Buffer {
  return createHash('sha256').update(`single sign-on ${secret}`).digest();
}

/**
 * Returns the nonce and the PKCE verifier of a sign-in. Both are derived from the secret in the browser's cookie, so that the
 * content of the database is not enough to complete the sign-in.
 */
export function deriveNonceAndVerifier({
  browserSecret,
  state,
}: {
  readonly browserSecret: string;
  readonly state: string;
}) {
  const derive = (purpose: string) =>
    createHmac('sha256', browserSecret).update(`single sign-on ${purpose} ${state}`).digest('base64url');
  return { nonce: derive('nonce'), codeVerifier: derive('code verifier') };
}
