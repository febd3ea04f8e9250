import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Permission, permissionsOf, type Role } from '../people/role.ts';
import { DAY_MS } from '../time.ts';
import type { AddressList } from './address-list.ts';
import type { OrganizationLimits } from './request-limits.ts';

/**
 * The format of a key: `charter_<environment>_`, then `<cell>_` if the key was issued in a cell, then 40 random base62 characters
 * (238 bits), and a CRC32 of all these as 6 base62 characters.
 */
const KEY = /^charter_(live|test)_(?:([a-z][a-z0-9]{0,11})_)?[0-9A-Za-z]{46}$/;
/** The format of a key from which characters are missing, at the end or elsewhere. */
const INCOMPLETE = /^charter_(?:live|test)_((?:[a-z][a-z0-9]{0,11}_)?)[0-9A-Za-z]*$/;
/** A key inside a longer text. */
const WITHIN = /charter_(?:live|test)_(?:[a-z][a-z0-9]{0,11}_)?[0-9A-Za-z]{46}/;
/** A whole key, or its first characters. */
const START = /charter_(?:live|test)_(?:[a-z][a-z0-9]{0,11}_)?[0-9A-Za-z]*/g;
/** The part of a key that may be shown, which is at most its prefix and 4 random characters. */
const PREFIX = /^charter_(?:live|test)_(?:[a-z][a-z0-9]{0,11}_)?[0-9A-Za-z]{0,4}/;
const WHOLE_PREFIX = /^charter_(?:live|test)_(?:[a-z][a-z0-9]{0,11}_)?[0-9A-Za-z]{4}$/;
/** The name of a cell. A cell is one of several complete installations that share an address. */
export const CELL = /^[a-z][a-z0-9]{0,11}$/;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
export const RANDOM_CHARACTERS = 40;
export const CHECKSUM_CHARACTERS = 6;
/** The length of a key that contains no cell. */
const KEY_CHARACTERS = 'charter_live_'.length + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS;

export const ENVIRONMENTS = ['live', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export type MintedKey = {
  /** The text of the key. It is shown once, and never stored. */
  readonly key: string;
  readonly hash: Buffer;
  /** The start of the key, such as "charter_live_Ab3d" or "charter_live_eu1_Ab3d", by which people recognize the key. */
  readonly prefix: string;
};

/** Creates a random key. `cell` is `null` if the installation is not a cell. */
export function mintKey(environment: Environment, cell: string | null = null): MintedKey {
  let random = '';
  for (let i = 0; i < RANDOM_CHARACTERS; i += 1) random += ALPHABET.charAt(randomInt(ALPHABET.length));
  const key = formatKey(environment, random, cell);
  return {
    key,
    hash: Buffer.from(hashKey(key), 'hex'),
    prefix: prefixOf(key),
  };
}

/** Returns a well-formed key. `random` are 40 base62 characters. */
export function formatKey(environment: Environment, random: string, cell: string | null = null): string {
  const body = `charter_${environment}_${cell === null ? '' : `${cell}_`}${random}`;
  return body + checksum(body);
}

/** Returns the SHA-256 of the whole key, in hexadecimal. A key has 238 random bits, so it needs no slow hash. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

export type KeyFormat =
  | { kind: 'well-formed'; environment: Environment; cell: string | null }
  | { kind: 'mistyped' }
  /** The text is too short. `characters` is the length of the text, and `of` the length of a whole key. */
  | { kind: 'incomplete'; characters: number; of: number }
  /** The text contains a key and other characters. `extra` is the number of the other characters. */
  | { kind: 'too-long'; extra: number }
  | { kind: 'not-a-key' };

/** Returns the format of the text, which reveals a mistyped key without a database query. */
export function inspectKey(text: string): KeyFormat {
  const match = KEY.exec(text);
  if (match === null) return inspectMisfit(text);
  const body = text.slice(0, -CHECKSUM_CHARACTERS);
  if (checksum(body) !== text.slice(-CHECKSUM_CHARACTERS)) return { kind: 'mistyped' };
  return { kind: 'well-formed', environment: match[1] === 'live' ? 'live' : 'test', cell: match[2] ?? null };
}

function prefixOf(key: string): string {
  return PREFIX.exec(key)?.[0] ?? '';
}

/** Returns whether the text is as long as the prefixes in the database. */
export function isWholePrefix(text: string): boolean {
  return WHOLE_PREFIX.test(text);
}

/** The key that a text contains. Only `prefix`, which has 4 of its random characters, may be shown, stored or put into a URL. */
export type KeyInText =
  | { readonly kind: 'whole'; readonly prefix: string; readonly key: string }
  | { readonly kind: 'mistyped' | 'part'; readonly prefix: string };

/**
 * Finds a key, or the start of a key, in a pasted text such as a line of a log. A whole key may lack its "charter_live_". Returns
 * `null` if the text contains no key.
 */
export function findKeyInText(text: string): KeyInText | null {
  const bare = /^(?:[a-z][a-z0-9]{0,11}_)?[0-9A-Za-z]{46}$/.test(text.trim()) ? text.trim() : null;
  const candidates =
    bare === null ? (text.match(START) ?? []) : ENVIRONMENTS.map((environment) => `charter_${environment}_${bare}`);
  const whole = candidates.find((candidate) => inspectKey(candidate).kind === 'well-formed');
  if (whole !== undefined) return { kind: 'whole', prefix: prefixOf(whole), key: whole };
  const [first] = candidates;
  if (first === undefined) return null;
  const kind = inspectKey(first).kind === 'mistyped' ? 'mistyped' : 'part';
  return { kind, prefix: prefixOf(first) };
}

/** Returns the text of a search without secrets: the prefix of the key in the text, or the text itself if it contains no key. */
export function withoutKey(text: string): string {
  return findKeyInText(text)?.prefix ?? text;
}

/** Returns the distinct keys in a text of any length, in order. Leaves out keys with a wrong checksum. */
export function keysInText(text: string): string[] {
  const candidates = new Set(text.match(new RegExp(WITHIN, 'g')));
  return [...candidates].filter((candidate) => inspectKey(candidate).kind === 'well-formed');
}

/** Shortens each key in the text to its prefix, for a text that repeats what a client sent. */
export function maskKeys(text: string): string {
  return text.replace(/(charter_(?:live|test)_(?:[a-z][a-z0-9]{0,11}_)?[0-9A-Za-z]{4})[0-9A-Za-z]+/g, '$1…');
}

/** Returns the format of a text that is not a valid key. The result never reveals characters of the text. */
function inspectMisfit(text: string): KeyFormat {
  const within = WITHIN.exec(text);
  if (within !== null) return { kind: 'too-long', extra: text.length - within[0].length };
  const incomplete = INCOMPLETE.exec(text);
  if (incomplete !== null)
    return { kind: 'incomplete', characters: text.length, of: KEY_CHARACTERS + (incomplete[1] ?? '').length };
  return { kind: 'not-a-key' };
}

function checksum(body: string): string {
  let remainder = crc32(body);
  let text = '';
  for (let i = 0; i < CHECKSUM_CHARACTERS; i += 1) {
    text = ALPHABET.charAt(remainder % ALPHABET.length) + text;
    remainder = Math.floor(remainder / ALPHABET.length);
  }
  return text;
}

/** An API key as it is stored. The types of SQL results about keys pick their members from this type. */
export type ApiKey = {
  readonly id: string;
  readonly name: string;
  /** The start of the key's text, by which people recognize the key. */
  readonly prefix: string;
  readonly permissions: readonly string[];
  readonly createdAt: Date;
  /** When the key expires; `null` if it never does. */
  readonly expiresAt: Date | null;
  /** The expiry at which a request was refused; `null` if no request was refused as expired. */
  readonly expiredAt: Date | null;
  readonly rotatedAt: Date | null;
  readonly revokedAt: Date | null;
  /** Whether the key was revoked because it was reported as leaked. */
  readonly isLeaked: boolean;
  /** Whether Charter revoked the key because it was not used. */
  readonly isUnused: boolean;
  /** When the key was moved from a user to its integration; `null` if it was not moved. */
  readonly movedAt: Date | null;
  readonly addresses: AddressList;
  /** The key's own rate limit; `null` if the limit of its organization applies. */
  readonly requestsPerSecond: number | null;
  readonly lastUsedAt: Date | null;
  /** The network of the client at the last use: an IPv4 address or an IPv6 /64; `null` if it is unknown. */
  readonly lastUsedNetwork: string | null;
  /** The product of the client at the last use, such as "curl/8.5.0"; `null` if it is unknown. */
  readonly lastUsedClient: string | null;
  /** The number of requests that were refused because the key was rotated or revoked. */
  readonly refusedUses: number;
};

/** The members that decide whether and how a key has ended. */
export type KeyEndTimes = Pick<ApiKey, 'expiresAt' | 'expiredAt' | 'rotatedAt' | 'revokedAt'>;

/** A key with its user and its organization, read in one SQL query. */
export type KeyRecord = Pick<ApiKey, 'id' | 'name' | 'permissions' | 'requestsPerSecond'> &
  KeyEndTimes & {
    readonly organizationId: string;
    readonly organizationName: string;
    /**
     * When the organization was suspended; `null` if it is not suspended. The time is also set while the organization is moving.
     */
    readonly organizationSuspendedAt: Date | null;
    readonly organizationIsMoving: boolean;
    /** A 64-bit integer in decimal digits. */
    readonly organizationVersion: string;
    /** The key that signs the organization's page cursors: encrypted, in hexadecimal. */
    readonly cursorKey: string;
    readonly organizationLimits: OrganizationLimits;
    /**
     * The addresses and subnets from which the key may be used, separated by spaces; `null` if it may be used from any address.
     */
    readonly allowedAddresses: string | null;
    readonly role: Role;
    readonly userDeactivatedAt: Date | null;
    /** The integration that holds the key; `null` if a person holds it. */
    readonly integration: { readonly id: string; readonly name: string } | null;
  };

/** How and when a key ended. An ended key never becomes active again. */
export type KeyEnd = { kind: 'expired' | 'rotated' | 'revoked'; at: Date };
export type KeyState = 'active' | KeyEnd['kind'];

/** The values that decide whether a key is accepted. */
export type JudgedKey = KeyEndTimes &
  Pick<
    KeyRecord,
    | 'organizationName'
    | 'organizationSuspendedAt'
    | 'organizationIsMoving'
    | 'permissions'
    | 'role'
    | 'userDeactivatedAt'
    | 'allowedAddresses'
  >;

/**
 * Returns how and when the key ended; `null` if it is active. A key that was refused as expired stays expired, even if the clock
 * was set back.
 */
export function endOf({ revokedAt, rotatedAt, expiresAt, expiredAt }: KeyEndTimes, now: Date): KeyEnd | null {
  if (revokedAt !== null) return { kind: 'revoked', at: revokedAt };
  if (rotatedAt !== null) return { kind: 'rotated', at: rotatedAt };
  if (expiresAt !== null && (expiresAt <= now || hasRecordedExpiry({ expiresAt, expiredAt })))
    return { kind: 'expired', at: expiresAt };
  return null;
}

/**
 * Returns whether a request was refused because of the key's present expiry. A refusal does not count if an operator has set a
 * later expiry since.
 */
export function hasRecordedExpiry({ expiresAt, expiredAt }: Pick<ApiKey, 'expiresAt' | 'expiredAt'>): boolean {
  return expiresAt !== null && expiredAt !== null && expiresAt <= expiredAt;
}

export type Verdict =
  | { kind: 'active'; permissions: readonly Permission[] }
  | KeyEnd
  | { kind: 'deactivated'; at: Date };

/**
 * If the key is active, returns its permissions that the role of its user allows now. Otherwise returns why and since when the
 * key is not active.
 */
export function judgeKey(record: JudgedKey, now: Date): Verdict {
  const end = endOf(record, now);
  if (end !== null) return end;
  if (record.userDeactivatedAt !== null) return { kind: 'deactivated', at: record.userDeactivatedAt };
  const permissions = permissionsOf(record.role).filter((allowed) => record.permissions.includes(allowed));
  return { kind: 'active', permissions };
}

export const MAX_LIFE_DAYS = 3650;
export const DEFAULT_LIFE_DAYS = 90;
export const MAX_ACTIVE_KEYS = 10;
export const SOON_DAYS = 30;
/** A key expires soon when less than 1/SOON_SHARE of its life is left. */
export const SOON_SHARE = 5;

/** Returns the time from which a key is refused; `null` if it never expires. `lifeDays` is 1 to 3650. */
export function expiryOf(createdAt: Date, lifeDays: number | null): Date | null {
  return lifeDays === null ? null : new Date(createdAt.getTime() + lifeDays * DAY_MS);
}

/**
 * Returns whether less than a fifth of the key's life, and at most 30 days, are left. A key that was just created for 30 days
 * does not need attention yet.
 */
export function isExpiringSoon({ createdAt, expiresAt }: Pick<ApiKey, 'createdAt' | 'expiresAt'>, now: Date): boolean {
  if (expiresAt === null || expiresAt <= now) return false;
  const lifeMs = expiresAt.getTime() - createdAt.getTime();
  return expiresAt.getTime() - now.getTime() <= Math.min(SOON_DAYS * DAY_MS, lifeMs / SOON_SHARE);
}

export type HolderKind = 'person' | 'integration';

/** The user or the integration that has a key. */
export type Holder = {
  readonly id: string;
  readonly kind: HolderKind;
  readonly name: string;
  /** The e-mail of a user; `null` for an integration. */
  readonly email: string | null;
};

/** Returns the e-mail of a user, which is unique, or the name of an integration. */
export function holderText({ name, email }: Pick<Holder, 'name' | 'email'>): string {
  return email ?? name;
}
