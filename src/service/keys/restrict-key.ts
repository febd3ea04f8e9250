import type { Actor } from '../../domain/audit/actor.ts';
import { networksOutside } from '../../domain/keys/address-list.ts';
import { endOf } from '../../domain/keys/api-key.ts';
import { isUsedLately } from '../../domain/keys/key-usage.ts';
import { isId } from '../../domain/text.ts';
import { findRestrictedKey, restrictApiKey } from '../../store/keys/api-keys.ts';
import type { Database } from '../../store/sql/database.ts';
import { lockForKeyAction } from '../authority/keys.ts';
import {
  type Conflict,
  DONE,
  type Done,
  type Invalid,
  joinInvalid,
  type KeyRefused,
  type LocksOut,
  recordAct,
  runAction,
} from '../outcome.ts';
import {
  addressWords,
  checkAddresses,
  checkLimit,
  explainEndedKey,
  limitWords,
  noSuchKey,
  parseAddresses,
  type RestrictionRequest,
} from './key-rules.ts';

export type Restricting = RestrictionRequest & {
  readonly keyId: string;
  readonly userId: string;
  /** The networks that the actor has agreed to lock out. */
  readonly lockedOut: readonly string[];
};

/**
 * Sets the addresses from which an active key may be used, and the key's rate limit. Once the promise is resolved, no request
 * from an address that is not in the list is accepted or can write. Returns "locks-out" if the new list excludes networks from
 * which the key was used within the last day, unless the actor has agreed to lock out these networks. Returns "conflict" if the
 * key has ended.
 */
export async function restrictKey(
  db: Database,
  actor: Actor,
  { keyId, userId, lockedOut, ...request }: Restricting,
): Promise<Done | Invalid | LocksOut | Conflict | KeyRefused> {
  const { scope } = actor;
  const list = parseAddresses(request.addresses);
  return runAction(db, async (tx) => {
    const authority = await lockForKeyAction(tx, actor, { userId, action: 'restrict' });
    if (authority.kind === 'refused') return authority;
    const { holder, policy, limits } = authority;
    const at = new Date();
    const before = isId(keyId) ? await findRestrictedKey(tx, scope, { id: keyId, userId: holder.id }) : null;
    if (before === null) throw noSuchKey();
    if (endOf(before, at) !== null) return explainEndedKey(tx, scope, { id: keyId, userId: holder.id, now: at });
    const { requestsPerSecond } = request;
    // An unchanged rate limit is not checked, because it may exceed a limit of the organization that an operator has lowered
    // since. The lower limit applies to requests in any case.
    const invalidLimit = requestsPerSecond === before.requestsPerSecond ? null : checkLimit(request, limits);
    if (list.kind === 'invalid') return joinInvalid([list, invalidLimit]);
    const addresses = list.value;
    const lacking = checkAddresses({ permissions: before.permissions, addresses }, policy);
    if (lacking !== null || invalidLimit !== null) return joinInvalid([lacking, invalidLimit]);
    const used = before.usedNetworks.filter((each) => isUsedLately(each, at)).map(({ network }) => network);
    const inUse = used.filter((network) => networksOutside(before.addresses, [network]).length === 0);
    const networks = networksOutside(addresses, inUse).filter((network) => !lockedOut.includes(network));
    if (networks.length > 0) return { kind: 'locks-out', networks };
    const detail = {
      ...(addressWords(addresses) !== addressWords(before.addresses) && {
        before: addressWords(before.addresses),
        addresses: addressWords(addresses),
      }),
      ...(requestsPerSecond !== before.requestsPerSecond && {
        'requests per second': `${limitWords(before.requestsPerSecond)} -> ${limitWords(requestsPerSecond)}`,
      }),
    };
    if (Object.keys(detail).length === 0) return DONE;
    await restrictApiKey(tx, scope, { id: keyId, addresses, requestsPerSecond });
    await recordAct(tx, actor, { action: 'key.restricted', targetUserId: holder.id, keyId, detail });
    return DONE;
  });
}
