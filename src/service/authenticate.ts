import type { Caller } from '../domain/audit/actor.ts';
import {
  ExpiredKeyError,
  ForbiddenAddressError,
  ForbiddenError,
  MovingError,
  UnauthenticatedError,
} from '../domain/errors.ts';
import { isInList } from '../domain/keys/address-list.ts';
import {
  type Environment,
  hashKey,
  inspectKey,
  type JudgedKey,
  judgeKey,
  type KeyRecord,
  type Verdict,
} from '../domain/keys/api-key.ts';
import { OrganizationScope } from '../domain/organizations/organization-scope.ts';
import type { Permission } from '../domain/people/role.ts';
import { formatCount } from '../domain/text.ts';
import { traceStep } from '../observability/instruments/tracing.ts';
import { recordExpiry } from '../store/keys/api-keys.ts';
import type { RefusedKey } from '../store/resources/key-of-write.ts';
import type { Database } from '../store/sql/database.ts';
import { listKeysByHash } from '../store/unscoped/keys.ts';
import type { KeyUses, ScopedKeyId, UseRecorder } from '../traffic/last-used.ts';
import { coalesceLookUps, type LookUpOptions } from '../traffic/look-ups.ts';

/** Finds a key by the hexadecimal SHA-256 of its text. Returns `null` for an unknown key. */
export type FindKey = (hash: string) => Promise<KeyRecord | null>;

type FindOptions = { readonly findKey: FindKey; readonly now: () => Date; readonly keyUses: KeyUses };

export function createFindKey(
  db: Database,
  options: Pick<LookUpOptions, 'measures' | 'waitMs' | 'tracing'> = {},
): FindKey {
  const find = coalesceLookUps((hashes) => listKeysByHash(db, hashes), options);
  const { tracing = null } = options;
  if (tracing === null) return find;
  return (hash) => traceStep(tracing, { name: 'look up API key', kind: 'internal' }, () => find(hash));
}

const COPY = 'Copy the whole key again.';
const REPLACE = 'Create another key in the dashboard, or ask an administrator for one.';

/** Returns the SHA-256 by which the key is looked up. Throws unless the text is a well-formed key of this environment. */
export function parseKeyHash(key: string, environment: Environment): string {
  requireFormat(key, environment);
  return hashKey(key);
}

/** A key that exists in the database, but may have expired or been rotated or revoked. */
export type KnownKey = {
  readonly record: KeyRecord;
  readonly at: Date;
  readonly use: UseRecorder;
};

/** A key that is active. Its organization may be suspended. */
export type AcceptedKey = KnownKey & { readonly permissions: readonly Permission[] };

/** Finds the key with this hash. Throws "unauthenticated" if there is none. */
export async function getKnownKey(hash: string, { findKey, now, keyUses }: FindOptions): Promise<KnownKey> {
  const record = await findKey(hash);
  if (record === null) throw unknownKey();
  const at = now();
  return { record, at, use: keyUses.of(record, at) };
}

/**
 * Returns the key with its permissions. Throws if the key is no longer active; the message says why, because the client has the
 * whole key.
 */
export function acceptKey({ record, at, use }: KnownKey): AcceptedKey {
  return { record, at, use, permissions: permissionsOfActive(record, { at, use, integration: record.integration }) };
}

/** Records the use of an accepted key, and returns the caller. Throws if the organization is suspended or moving. */
export function admitCaller(
  { record, permissions, at, use }: AcceptedKey,
  clientAddress: Caller['clientAddress'],
): Caller {
  requireServed(record);
  use.noteAcceptance(at);
  return {
    scope: OrganizationScope.grant(record.organizationId),
    organizationName: record.organizationName,
    organizationVersion: record.organizationVersion,
    cursorKey: record.cursorKey,
    keyId: record.id,
    keyName: record.name,
    permissions,
    expiresAt: record.expiresAt,
    integration: record.integration,
    clientAddress,
  };
}

/**
 * Throws unless the key may be used from this address, which addressIn has normalized. The message contains the client's address,
 * because a proxy may have changed it, but does not contain the list of allowed addresses.
 */
export function requireAllowedAddress(
  { allowedAddresses }: Pick<JudgedKey, 'allowedAddresses'>,
  address: string | null,
): void {
  if (allowedAddresses === null || isInList(allowedAddresses, address)) return;
  const from = address === null ? 'an unknown address' : `your address, ${address}`;
  throw new ForbiddenAddressError(
    `This API key may not be used from ${from}. Use an allowed address, or ask the person who manages your keys to allow this one.`,
  );
}

/** Returns the permissions of the key. Throws if the key is not active at the time `at`. */
function permissionsOfActive(
  state: JudgedKey,
  { at, use, integration }: Pick<KnownKey, 'at' | 'use'> & Pick<KeyRecord, 'integration'>,
): readonly Permission[] {
  const verdict = judgeKey(state, at);
  if (verdict.kind === 'rotated' || verdict.kind === 'revoked') use.countRefusedUse();
  if (verdict.kind === 'expired') throw new ExpiredKeyError(wordsOf(verdict, integration), verdict.at);
  if (verdict.kind !== 'active') throw new UnauthenticatedError(wordsOf(verdict, integration), verdict.kind);
  return verdict.permissions;
}

type OrganizationState = Pick<JudgedKey, 'organizationName' | 'organizationSuspendedAt' | 'organizationIsMoving'>;

function requireServed(state: OrganizationState): void {
  if (state.organizationSuspendedAt === null) return;
  if (state.organizationIsMoving) throw new MovingError();
  throw new ForbiddenError(`The organization ${state.organizationName} is suspended. Contact support.`);
}

/** Throws unless the key has at least one of the `sufficient` permissions. If that list is empty, every key is accepted. */
export function requirePermission(permissions: readonly string[], sufficient: readonly string[]): void {
  if (sufficient.length > 0 && !sufficient.some((each) => permissions.includes(each)))
    throw new ForbiddenError(`This API key lacks the permission ${sufficient.join(' or ')}.`, sufficient[0]);
}

/**
 * Throws the error that a new request with the key would get. The key was valid when the headers of the request arrived, but may
 * no longer write.
 */
export function rejectWriter(
  { scope, keyId, integration, clientAddress }: Pick<Caller, 'scope' | 'keyId' | 'integration' | 'clientAddress'>,
  { refused: { key, at }, permission, keyUses }: { refused: RefusedKey; permission: Permission; keyUses: KeyUses },
): never {
  if (key === null) throw unknownKey();
  const use = keyUses.of({ organizationId: scope.organizationId, id: keyId }, at);
  const permissions = permissionsOfActive(key, { at, use, integration });
  requireAllowedAddress(key, clientAddress());
  requireServed(key);
  requirePermission(permissions, [permission]);
  throw new Error('A write was refused to a key that may write.');
}

/**
 * Records that a request with the key was refused because the key expired at `expiresAt`. Await it before the response is sent.
 */
export type RecordExpiry = (key: ScopedKeyId, expiresAt: Date) => Promise<void>;

/**
 * Returns a function that records an expiry, so that a key that has been refused as expired is never accepted again, even if a
 * clock is set back. Sends one SQL statement for each key, which concurrent requests share, and another statement if an operator
 * sets a later expiry.
 */
export function createRecordExpiry(db: Database): RecordExpiry {
  const inFlight = new Map<string, Promise<void>>();
  return ({ organizationId, id }, expiresAt) => {
    const expiry = `${id} ${expiresAt.getTime()}`;
    const known = inFlight.get(expiry);
    if (known !== undefined) return known;
    const scope = OrganizationScope.grant(organizationId);
    const recorded = recordExpiry(db, scope, { id, expiresAt }).finally(() => inFlight.delete(expiry));
    inFlight.set(expiry, recorded);
    return recorded;
  };
}

/**
 * Returns the error for a key that is not in the database. If the key names another cell, the message mentions that cell. This is
 * only a hint, because the keys of an organization that has moved still name its former cell.
 */
export function unknownKeyIn(cell: string | null, key: string): UnauthenticatedError {
  const format = inspectKey(key);
  if (format.kind !== 'well-formed' || format.cell === cell) return unknownKey();
  const issued = format.cell === null ? 'without a cell' : `in the cell ${format.cell}`;
  const here = cell === null ? 'this server' : `the cell ${cell}`;
  return new UnauthenticatedError(
    `This API key was issued ${issued}, and is not known to ${here}. Check the address of the server.`,
    'unknown',
  );
}

function unknownKey(): UnauthenticatedError {
  return new UnauthenticatedError('This API key is not known. Check that the whole key was copied.', 'unknown');
}

function requireFormat(key: string, environment: Environment): void {
  const format = inspectKey(key);
  switch (format.kind) {
    case 'not-a-key':
      throw malformedError(
        `This is not an API key: a key begins with charter_${environment}_ and ends with 46 letters and digits.`,
      );
    case 'incomplete':
      throw malformedError(
        `This API key is incomplete: it has ${format.characters} of ${format.of} characters. ${COPY}`,
      );
    case 'too-long':
      throw malformedError(
        `This API key has something extra: ${formatCount(format.extra, 'character is', 'characters are')} too many. Copy only the key.`,
      );
    case 'mistyped':
      throw malformedError(`This API key is mistyped. ${COPY}`);
    case 'well-formed':
      if (format.environment === environment) return;
      throw new UnauthenticatedError(
        `This is a ${format.environment} key, but this server accepts only ${environment} keys.`,
        'environment',
      );
  }
}

function wordsOf(verdict: Exclude<Verdict, { kind: 'active' }>, integration: KeyRecord['integration']): string {
  switch (verdict.kind) {
    case 'expired':
      return `This API key expired at ${verdict.at.toISOString()}. ${REPLACE}`;
    case 'rotated':
      return `This API key was rotated at ${verdict.at.toISOString()}. Use the key that replaced it.`;
    case 'revoked':
      return `This API key was revoked at ${verdict.at.toISOString()}. ${REPLACE}`;
    case 'deactivated':
      return integration === null
        ? `The user of this API key was deactivated at ${verdict.at.toISOString()}. ${REPLACE}`
        : `The integration ${integration.name} was suspended at ${verdict.at.toISOString()}. Contact an administrator.`;
  }
}

function malformedError(message: string): UnauthenticatedError {
  return new UnauthenticatedError(message, 'malformed');
}
