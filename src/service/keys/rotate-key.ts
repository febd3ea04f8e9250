import { v7 as newId } from 'uuid';
import type { Actor } from '../../domain/audit/actor.ts';
import { type Environment, expiryOf, mintKey } from '../../domain/keys/api-key.ts';
import type { KeyPolicy } from '../../domain/people/role.ts';
import { isId } from '../../domain/text.ts';
import { replaceApiKey } from '../../store/keys/api-keys.ts';
import type { Database } from '../../store/sql/database.ts';
import { lockForKeyAction } from '../authority/keys.ts';
import {
  ALREADY_SENT,
  type AlreadySent,
  type Conflict,
  claimForm,
  type Invalid,
  joinInvalid,
  type KeyRefused,
  type OneTimeForm,
  recordAct,
  runAction,
} from '../outcome.ts';
import { holderOf, type KeyIssued } from './issue-key.ts';
import {
  addressWords,
  checkAddresses,
  checkLife,
  checkLifePolicy,
  explainEndedKey,
  type Life,
  lifeUntil,
  noSuchKey,
  parseAddresses,
} from './key-rules.ts';
import { tellHolder } from './notices.ts';

export type Rotation = OneTimeForm & {
  readonly keyId: string;
  /** The user for whom the key acts. */
  readonly userId: string;
  readonly environment: Environment;
  /** The cell of this installation; `null` or omitted if the installation has no cells. */
  readonly cell?: string | null | undefined;
  /**
   * The number of days until the successor expires, as in a KeyRequest. If it is omitted, the successor expires when the old key
   * would have, provided that the organization's policy still allows that.
   */
  readonly lifeDays?: number | null | undefined;
  /**
   * The allowed addresses of the successor, as in a RestrictionRequest. If they are omitted, the successor has those of the old
   * key.
   */
  readonly addresses?: string | undefined;
  /** Returns the current time. Tests replace it. */
  readonly now?: () => Date;
};

/** `replacedPrefix` is the start of the old key, such as "charter_live_Ab3d". */
export type KeyRotated = KeyIssued & { readonly replacedPrefix: string };

type Renewal = Pick<Rotation, 'lifeDays' | 'addresses'> & { readonly now: Date };

/**
 * Returns the mistakes in the expiry and the addresses of a successor. `key` has the expiry, the permissions and the addresses
 * that the successor keeps unless the rotation changes them.
 */
export function renewalMistakesOf(
  key: Pick<KeyIssued, 'expiresAt' | 'addresses'> & { readonly permissions: readonly string[] },
  policy: KeyPolicy,
  { lifeDays, addresses, now }: Renewal,
): Invalid[] {
  const life: Life = { field: 'expiry', lifeDays: lifeDays === undefined ? lifeUntil(key.expiresAt, now) : lifeDays };
  const list = addresses === undefined ? null : parseAddresses(addresses);
  const kept = list?.kind === 'valid' ? list.value : key.addresses;
  const wrongList =
    list?.kind === 'invalid' ? list : checkAddresses({ permissions: key.permissions, addresses: kept }, policy);
  return [checkLife(life) ?? checkLifePolicy(life, policy), wrongList].filter((each) => each !== null);
}

/**
 * Returns the fields that a rotation must change, because the organization's policy no longer allows the key's current values.
 */
export function renewalsOf(
  key: Parameters<typeof renewalMistakesOf>[0],
  policy: KeyPolicy,
  now: Date,
): readonly string[] {
  const mistakes = renewalMistakesOf(key, policy, { lifeDays: undefined, addresses: undefined, now });
  return mistakes.flatMap(({ fields }) => Object.keys(fields));
}

/**
 * Ends a key and creates its successor, with the same user, name, permissions and restrictions. Once the promise is resolved,
 * every server refuses the old key. Returns "conflict" if the key has already ended; the message says who ended it.
 */
export async function rotateKey(
  db: Database,
  actor: Actor,
  { keyId, userId, environment, cell, formId, lifeDays, addresses, now = () => new Date() }: Rotation,
): Promise<KeyRotated | Invalid | Conflict | KeyRefused | AlreadySent> {
  const { scope } = actor;
  const renewed: Life | null = lifeDays === undefined ? null : { field: 'expiry', lifeDays };
  const invalidLife = renewed === null ? null : checkLife(renewed);
  const list = addresses === undefined ? null : parseAddresses(addresses);
  if (invalidLife !== null || list?.kind === 'invalid') return joinInvalid([invalidLife, list]);
  return runAction(db, async (tx) => {
    if (!(await claimForm(tx, scope, { formId }))) return ALREADY_SENT;
    const authority = await lockForKeyAction(tx, actor, { userId, action: 'rotate' });
    if (authority.kind === 'refused') return authority;
    const { holder, policy, limits, byUserId } = authority;
    if (!isId(keyId)) throw noSuchKey();
    const at = now();
    const { key, hash, prefix } = mintKey(environment, cell);
    const successor = { id: newId(), keyHash: Uint8Array.from(hash), prefix };
    const replaced = await replaceApiKey(tx, scope, {
      id: keyId,
      userId: holder.id,
      at,
      byUserId,
      successor,
      expiresAt: renewed === null ? undefined : expiryOf(at, renewed.lifeDays),
      addresses: list?.value,
    });
    if (replaced === null) return explainEndedKey(tx, scope, { id: keyId, userId: holder.id, now: at });
    const { replacedPrefix, ...kept } = replaced;
    const { name, expiresAt } = kept;
    const mistakes = renewalMistakesOf(replaced, policy, { lifeDays, addresses, now: at });
    if (mistakes.length > 0) return joinInvalid(mistakes);
    const detail = {
      name,
      successor: successor.id,
      prefix,
      ...(list !== null && { addresses: addressWords(list.value) }),
    };
    await recordAct(tx, actor, {
      action: 'key.rotated',
      targetUserId: holder.id,
      keyId,
      detail: renewed === null ? detail : { ...detail, expires: expiresAt?.toISOString() ?? 'never' },
    });
    const told = {
      holder,
      keyId: successor.id,
      kind: 'rotated',
      byUserId,
      detail: replacedPrefix,
    } as const;
    await tellHolder(tx, scope, told);
    const issued = { id: successor.id, key, ...kept };
    return { kind: 'issued', ...issued, holder: holderOf(holder), limits, replacedPrefix };
  });
}
