import { v7 as newId } from 'uuid';
import { type ActorOrOperator, isOperator } from '../../domain/audit/actor.ts';
import {
  type ApiKey,
  type Environment,
  endOf,
  expiryOf,
  type Holder,
  holderText,
  MAX_ACTIVE_KEYS,
  mintKey,
} from '../../domain/keys/api-key.ts';
import type { OrganizationLimits } from '../../domain/keys/request-limits.ts';
import { parseName } from '../../domain/name.ts';
import { isPermission, type Permission, permissionsOf, type Role } from '../../domain/people/role.ts';
import { insertApiKey, listCurrentKeys } from '../../store/keys/api-keys.ts';
import type { LockedHolder } from '../../store/people/users.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { lockForKeyAction } from '../authority/keys.ts';
import {
  ALREADY_SENT,
  type AlreadySent,
  type Conflict,
  catchInvalid,
  claimForm,
  conflict,
  type Invalid,
  invalid,
  joinInvalid,
  type KeyRefused,
  type NameTaken,
  type OneTimeForm,
  recordAct,
  runAction,
} from '../outcome.ts';
import {
  addressWords,
  checkAddresses,
  checkLife,
  checkLifePolicy,
  checkLimit,
  checkNameFree,
  type Life,
  lifeUntil,
  limitWords,
  parseAddresses,
  type RestrictionRequest,
  type Restrictions,
} from './key-rules.ts';
import { tellHolder } from './notices.ts';

export type KeyRequest = OneTimeForm & {
  readonly userId: string;
  /**
   * The name, of 1 to 100 characters. It must look different from the names of the holder's keys that are neither rotated nor
   * revoked.
   */
  readonly name: string;
  /** At least one of PERMISSIONS, and only those that the user's role has. */
  readonly permissions: readonly string[];
  /**
   * The number of days until the key expires: 1 to 3650, and no more than the organization's policy allows. `null` if the key
   * never expires.
   */
  readonly lifeDays: number | null;
  /**
   * The day on which the key expires, in place of `lifeDays`. An invalid Date stands for a text that is not a date, and is
   * refused.
   */
  readonly expiresAt?: Date | undefined;
  readonly environment: Environment;
  /** The cell of this installation; `null` or omitted if the installation has no cells. */
  readonly cell?: string | null | undefined;
  /** The allowed addresses and the rate limit. If they are omitted, the key has no restrictions. */
  readonly restrictions?: RestrictionRequest;
};

export type IssuedKey = Pick<ApiKey, 'id' | 'name' | 'expiresAt'> & {
  /** The text of the key. It is not stored, so it can be shown only in the response to this action. */
  readonly key: string;
  readonly permissions: readonly Permission[];
};

export type KeyIssued = IssuedKey &
  Restrictions & {
    readonly kind: 'issued';
    readonly holder: Holder;
    /** The limits that the operator has set for the organization. */
    readonly limits: OrganizationLimits;
  };

/**
 * Creates a key for a user or an integration. Concurrent creations cannot exceed the limit of ten keys or use the same name
 * twice. An operator can exceed the organization's policy, but not the permissions of the user's role.
 */
export async function issueKey(
  db: Database,
  actor: ActorOrOperator,
  request: KeyRequest,
): Promise<KeyIssued | Invalid | Conflict | NameTaken | KeyRefused | AlreadySent> {
  const parsedName = catchInvalid(() => parseName(request.name, { kind: 'key' }));
  const { restrictions } = request;
  const list = parseAddresses(restrictions?.addresses ?? '');
  const addresses = list.kind === 'valid' ? list.value : [];
  const requestsPerSecond = restrictions?.requestsPerSecond ?? null;
  return runAction(db, async (tx) => {
    if (!(await claimForm(tx, actor.scope, request))) return ALREADY_SENT;
    const authority = await lockForKeyAction(tx, actor, { userId: request.userId, action: 'create' });
    if (authority.kind === 'refused') return authority;
    const { holder, policy, limits, byUserId } = authority;
    const now = new Date();
    const life = lifeOf(request, now);
    const mistakes = [
      checkPermissions(request.permissions, holder.role),
      checkLife(life) ?? (isOperator(actor) ? null : checkLifePolicy(life, policy)),
      list.kind === 'invalid' ? list : isOperator(actor) ? null : checkAddresses({ ...request, addresses }, policy),
      restrictions === undefined ? null : checkLimit(restrictions, limits),
    ].filter((each) => each !== null);
    if (parsedName.kind === 'invalid') return joinInvalid([parsedName, ...mistakes]);
    const name = parsedName.value;
    const beyond = await checkKeyLimits(tx, actor, { holder, name, now });
    if (mistakes.length > 0) {
      const taken = beyond?.kind === 'name-taken' ? invalid('name', `is taken: ${beyond.message}`) : null;
      return joinInvalid([taken, ...mistakes]);
    }
    if (beyond !== null) return beyond;
    const { key, hash, prefix } = mintKey(request.environment, request.cell);
    const id = newId();
    const expiresAt = request.expiresAt ?? expiryOf(now, request.lifeDays);
    const permissions = [...new Set(request.permissions.filter(isPermission))];
    await insertApiKey(tx, actor.scope, {
      id,
      userId: holder.id,
      createdByUserId: byUserId,
      name,
      keyHash: Uint8Array.from(hash),
      prefix,
      permissions,
      expiresAt,
      createdAt: now,
      addresses,
      requestsPerSecond,
    });
    await recordAct(tx, actor, {
      action: 'key.created',
      targetUserId: holder.id,
      keyId: id,
      detail: {
        name,
        prefix,
        permissions: permissions.join(', '),
        expires: expiresAt?.toISOString() ?? 'never',
        ...(addresses.length > 0 && { addresses: addressWords(addresses) }),
        ...(requestsPerSecond !== null && { 'requests per second': limitWords(requestsPerSecond) }),
      },
    });
    await tellHolder(tx, actor.scope, { holder, keyId: id, kind: 'created', byUserId });
    const issued = { id, key, name, permissions, expiresAt, addresses, requestsPerSecond };
    return { kind: 'issued', ...issued, holder: holderOf(holder), limits };
  });
}

export function holderOf({ id, kind, name, email }: LockedHolder): Holder {
  return { id, kind, name, email };
}

function lifeOf({ lifeDays, expiresAt }: KeyRequest, now: Date): Life {
  if (expiresAt === undefined) return { field: 'expiry', lifeDays };
  return { field: 'expiry_date', lifeDays: lifeUntil(expiresAt, now) };
}

function checkPermissions(permissions: readonly string[], role: Role): Invalid | null {
  if (permissions.length === 0) return invalid('permissions', 'must hold at least one permission.');
  if (!permissions.every(isPermission))
    return invalid('permissions', 'must be among the permissions that the form offers.');
  const allowed: readonly string[] = permissionsOf(role);
  const beyond = permissions.find((permission) => !allowed.includes(permission));
  if (beyond === undefined) return null;
  return invalid('permissions', `must not hold ${beyond}: a ${role} does not have this permission.`);
}

async function checkKeyLimits(
  tx: Transaction,
  { scope }: ActorOrOperator,
  { holder, name, now }: { holder: LockedHolder; name: string; now: Date },
): Promise<NameTaken | Conflict | null> {
  const keys = await listCurrentKeys(tx, scope, holder.id);
  const taken = checkNameFree(holder, { name, others: keys });
  if (taken !== null) return taken;
  const active = keys.filter((key) => endOf(key, now) === null);
  if (active.length < MAX_ACTIVE_KEYS) return null;
  return conflict(`${holderText(holder)} has ${MAX_ACTIVE_KEYS} active keys, the maximum. Revoke one first.`);
}
