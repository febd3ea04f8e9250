import type { Holder } from '../../domain/keys/api-key.ts';

// The paths of all pages of the dashboard. Routes and links build their paths with the same functions; a route passes a parameter
// in place of an id: `userUrl(':userId', 'role')`.

/** Returns the path with the query. Leaves out empty and `null` values. */
export function urlOf(path: string, query: Readonly<Record<string, string | null>>): string {
  const pairs = Object.entries(query).flatMap(([name, text]): [string, string][] =>
    text === null || text === '' ? [] : [[name, text]],
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

/** Returns the URL of the CSV file with the content of a list page. */
export function fileUrlOf(url: string): string {
  return `${url}.csv`;
}

const at = (url: string, page: string | undefined) => (page === undefined ? url : `${url}/${page}`);

export const START_URL = '/';
export const ASSETS_URL = '/assets';
export const DOCUMENTATION_URL = '/docs';

export function guideUrl(guide: string): string {
  return `${DOCUMENTATION_URL}/${guide}`;
}

// Pages for people who are not signed in.

export const REPORT_KEY_URL = '/report-key';
export const SIGN_OUT_URL = '/sign-out';
export const FORGOTTEN_PASSWORD_URL = '/forgotten-password';
export const SIGN_IN_URL = '/sign-in';
export const SIGN_IN_CODE_URL = `${SIGN_IN_URL}/second-factor`;
export const SIGN_IN_PASSKEY_URL = `${SIGN_IN_URL}/passkey`;
export const SIGN_IN_PASSKEY_OPTIONS_URL = `${SIGN_IN_PASSKEY_URL}/options`;

const WELCOME_URL = '/welcome';
const SINGLE_SIGN_ON_URL = '/single-sign-on';

/** Returns the URL that an access link contains. */
export function welcomeUrl(token: string, page?: 'single-sign-on'): string {
  return at(`${WELCOME_URL}/${token}`, page);
}

export function singleSignOnUrl(organizationId: string, page: 'start' | 'callback' | 'logout'): string {
  return at(`${SINGLE_SIGN_ON_URL}/${organizationId}`, page);
}

/** Returns the URL of the page on which people prove that an existing account is theirs when they first use single sign-on. */
export function confirmationUrl(organizationId: string, token: string): string {
  return `${SINGLE_SIGN_ON_URL}/${organizationId}/confirm/${token}`;
}

// The signed-in person's own account.

export const PROFILE_URL = '/profile';
export const OWN_KEYS_URL = keysUrlBelow(PROFILE_URL);
export const PASSWORD_URL = `${PROFILE_URL}/password`;
export const SESSIONS_URL = `${PROFILE_URL}/sessions`;
export const SIGN_OUT_EVERYWHERE_URL = `${SESSIONS_URL}/sign-out-everywhere`;
export const DISMISS_URL = `${PROFILE_URL}/notices/dismiss`;
export const PROVIDER_PROOF_URL = `${PROFILE_URL}/proof/provider`;
export const PROOF_OPTIONS_URL = `${PROFILE_URL}/proof/options`;
export const SECOND_FACTOR_URL = `${PROFILE_URL}/second-factor`;
export const CONFIRM_SECOND_FACTOR_URL = `${SECOND_FACTOR_URL}/confirm`;
export const REMOVE_SECOND_FACTOR_URL = `${SECOND_FACTOR_URL}/remove`;
export const RECOVERY_CODES_URL = `${SECOND_FACTOR_URL}/recovery-codes`;

const PASSKEYS_URL = `${PROFILE_URL}/passkeys`;
export const NEW_PASSKEY_URL = `${PASSKEYS_URL}/new`;
export const NEW_PASSKEY_OPTIONS_URL = `${PASSKEYS_URL}/options`;

export function passkeyUrl(id: string, page?: 'remove'): string {
  return at(`${PASSKEYS_URL}/${id}`, page);
}

// The users of the organization.

export const PEOPLE_URL = '/people';
export const USERS_URL = `${PEOPLE_URL}/users`;
export const INVITE_URL = `${USERS_URL}/invite`;

type UserPage = 'role' | 'link' | 'deactivate' | 'email' | 'withdraw' | 'unlink' | 'reactivate' | 'second-factor';

export function userUrl(id: string, page?: UserPage): string {
  return at(`${USERS_URL}/${id}`, page);
}

// The organization. ORGANIZATION_URL is the page of its policy.

export const ORGANIZATION_URL = '/organization';
export const NOTICE_SETTINGS_URL = `${ORGANIZATION_URL}/unused-keys`;
export const ORGANIZATION_KEYS_URL = keysUrlBelow(ORGANIZATION_URL);
export const ORGANIZATION_USAGE_URL = `${ORGANIZATION_KEYS_URL}/requests`;
/** The URL of the CSV file with the number of requests for each operation. */
export const OPERATION_USES_FILE_URL = fileUrlOf(`${ORGANIZATION_USAGE_URL}/operations`);
export const ORGANIZATION_REQUESTS_URL = `${ORGANIZATION_USAGE_URL}/list`;
export const AUDIT_LOG_URL = `${ORGANIZATION_URL}/audit-log`;
export const AUDIT_LOG_FILE_URL = fileUrlOf(AUDIT_LOG_URL);

export const SIGN_IN_SETTINGS_URL = `${ORGANIZATION_URL}/sign-in`;
export const CONNECTION_URL = `${SIGN_IN_SETTINGS_URL}/connection`;
export const REMOVE_CONNECTION_URL = `${CONNECTION_URL}/remove`;
export const ROLES_URL = `${SIGN_IN_SETTINGS_URL}/roles`;
export const REQUIRE_URL = `${SIGN_IN_SETTINGS_URL}/require`;
export const ALLOW_PASSWORDS_URL = `${SIGN_IN_SETTINGS_URL}/allow-passwords`;

export function domainsUrl(page?: 'check' | 'remove'): string {
  return at(`${SIGN_IN_SETTINGS_URL}/domains`, page);
}

export const INTEGRATIONS_URL = `${ORGANIZATION_URL}/integrations`;
export const NEW_INTEGRATION_URL = `${INTEGRATIONS_URL}/new`;

type IntegrationPage = 'change' | 'suspend' | 'reactivate' | 'take';

export function integrationUrl(id: string, page?: IntegrationPage): string {
  return at(`${INTEGRATIONS_URL}/${id}`, page);
}

export const WEBHOOKS_URL = `${ORGANIZATION_URL}/webhooks`;
export const NEW_WEBHOOK_URL = `${WEBHOOKS_URL}/new`;

type EndpointPage = 'change' | 'rotate' | 'disable' | 'enable' | 'delete' | 'test' | 'resend';

export function endpointUrl(id: string, page?: EndpointPage): string {
  return at(`${WEBHOOKS_URL}/${id}`, page);
}

export function deliveryUrl(endpointId: string, messageId: string, page?: 'resend'): string {
  return at(`${endpointUrl(endpointId)}/deliveries/${messageId}`, page);
}

// API keys. The keys of a user or an integration are below the page of that user or integration.

function keysUrlBelow(url: string): string {
  return `${url}/api-keys`;
}

export function userKeysUrl(userId: string): string {
  return keysUrlBelow(userUrl(userId));
}

export function integrationKeysUrl(id: string): string {
  return keysUrlBelow(integrationUrl(id));
}

export function holderUrl(holder: Pick<Holder, 'id' | 'kind'>): string {
  return holder.kind === 'integration' ? integrationUrl(holder.id) : userUrl(holder.id);
}

export function keysUrlOf(holder: Pick<Holder, 'id' | 'kind'>): string {
  return keysUrlBelow(holderUrl(holder));
}

/** Returns the URL of the page that creates a key. `like` is the id of the key from which the form takes its initial settings. */
export function newKeyUrl(listUrl: string, like: string | null = null): string {
  return urlOf(`${listUrl}/new`, { like });
}

/** A page that asks the person to confirm an action on a key. */
export type KeyPage = 'rotate' | 'rename' | 'restrict' | 'move' | 'revoke';

/** What the URLs of a key's pages are made from. */
export type KeyUrls = {
  /** The path of the list of the holder's keys, such as "/profile/api-keys". */
  readonly listUrl: string;
  /**
   * The filters and the position in the organization's list of keys, as backFrom returns them; `null` if the pages link back to
   * the list of the holder's keys.
   */
  readonly back: string | null;
};

/** Returns the URL of the key's own page or, with `page`, of an action's page. */
export function keyUrl({ id }: { readonly id: string }, { listUrl, back }: KeyUrls, page?: KeyPage): string {
  return urlOf(at(`${listUrl}/${id}`, page), { back });
}

export function requestsUrl(listUrl: string, keyId: string): string {
  return `${listUrl}/${keyId}/requests`;
}

/**
 * Returns the URL of the list of the key's requests that the server refused. With "limited", the list contains only the requests
 * above a rate limit.
 */
export function refusedRequestsUrl(
  { id }: { readonly id: string },
  { listUrl, back }: KeyUrls,
  status: 'refused' | 'limited' = 'refused',
): string {
  return urlOf(requestsUrl(listUrl, id), { status, back });
}

// Sections of the dashboard.

export const SECTION_URLS: readonly string[] = [PROFILE_URL, PEOPLE_URL, ORGANIZATION_URL];

/**
 * The pages that anybody may open. At the address that all cells share, these pages only lead to a cell, because each cell has
 * the sessions of its own users.
 */
export const GUEST_URLS: readonly string[] = [
  SIGN_OUT_URL,
  SIGN_IN_URL,
  SINGLE_SIGN_ON_URL,
  FORGOTTEN_PASSWORD_URL,
  WELCOME_URL,
];

export function isBelow(path: string, urls: readonly string[]): boolean {
  return urls.some((url) => path === url || path.startsWith(`${url}/`));
}

/**
 * The maximum number of characters of a "next" path. The database stores the path while a person signs in at an identity
 * provider.
 */
const MAX_NEXT_CHARACTERS = 2000;

/**
 * Returns the path to which the sign-in redirects: `text` if it is the path of a page for signed-in people, otherwise the profile
 * page.
 */
export function safeNext(text: string | null): string {
  const url = URL.parse(text ?? '', 'http://ours.invalid');
  if (url === null || url.origin !== 'http://ours.invalid' || !isBelow(url.pathname, SECTION_URLS)) return PROFILE_URL;
  const path = url.pathname + url.search;
  return path.length > MAX_NEXT_CHARACTERS ? PROFILE_URL : path;
}
