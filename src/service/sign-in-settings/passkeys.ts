import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { Actor } from '../../domain/audit/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import { parseName } from '../../domain/name.ts';
import { MAX_PASSKEYS } from '../../domain/people/ways-in.ts';
import { isId } from '../../domain/text.ts';
import { lockOrganization } from '../../store/organizations/organizations.ts';
import {
  deletePasskey,
  insertPasskey,
  listPasskeysOf,
  renamePasskey as renameStored,
  type StoredPasskey,
} from '../../store/people/passkeys.ts';
import { getWaysIn } from '../../store/people/users.ts';
import type { Database } from '../../store/sql/database.ts';
import { isUniqueViolation } from '../../store/sql/database-errors.ts';
import { checkBreakGlass } from '../authority/sign-in-ways.ts';
import {
  type Conflict,
  catchInvalid,
  conflict,
  DONE,
  type Done,
  type Invalid,
  type RateLimited,
  recordAct,
  runAction,
} from '../outcome.ts';
import { creationOptions, parseRegistration, verifyRegistration } from '../sign-in/passkeys/ceremony.ts';
import {
  type Asking,
  type GivenPasskey,
  issueChallenge,
  type PasskeyOptions,
  spendChallenge,
} from '../sign-in/passkeys/use-passkey.ts';
import { lockSession } from '../sign-in/sessions.ts';

export type Passkey = Pick<StoredPasskey, 'id' | 'name' | 'createdAt' | 'lastUsedAt' | 'isBackedUp'>;

/** Lists the actor's own passkeys, the oldest first. */
export async function listPasskeys({ prisma }: Database, { scope, userId }: Actor): Promise<readonly Passkey[]> {
  return listPasskeysOf(prisma, scope, userId);
}

export async function getPasskey(db: Database, actor: Actor, id: string): Promise<Passkey> {
  return ownIn(await listPasskeys(db, actor), id);
}

/** Returns the passkey with the id. Throws "not_found" if the person has no such passkey. */
function ownIn<T extends Passkey>(passkeys: readonly T[], id: string): T {
  const found = isId(id) ? passkeys.find((each) => each.id === id) : undefined;
  if (found === undefined) throw new DomainError('not_found', 'There is no such passkey.');
  return found;
}

const USER_HANDLE_BYTES = 32;

export async function optionsForNewPasskey(
  db: Database,
  actor: Actor,
  { relyingParty, browser, now }: Asking,
): Promise<PasskeyOptions | Conflict | RateLimited> {
  const existing = await listPasskeysOf(db.prisma, actor.scope, actor.userId);
  const full = checkPasskeyCount(existing);
  if (full !== null) return full;
  const userHandle = existing[0]?.userHandle ?? Uint8Array.from(randomBytes(USER_HANDLE_BYTES));
  const issued = await issueChallenge(db, { browser, purpose: 'registration', userHandle, now });
  if (issued.kind === 'rate-limited') return issued;
  const { name, email } = actor;
  const request = { relyingParty, challenge: issued.challenge, userHandle, name, email, existing };
  return { kind: 'options', options: await creationOptions(request) };
}

function checkPasskeyCount(existing: readonly unknown[]): Conflict | null {
  if (existing.length < MAX_PASSKEYS) return null;
  return conflict(`You have ${MAX_PASSKEYS} passkeys, and cannot add more. Remove one that you do not use first.`);
}

/** A new passkey. `token` is the token of the actor's session, which must not have ended meanwhile. */
type NewPasskey = GivenPasskey & { readonly name: string; readonly token: string };

export async function addPasskey(
  db: Database,
  actor: Actor,
  { credential, name, token, relyingParty, browser, now }: NewPasskey,
): Promise<Done | Invalid | Conflict> {
  const { scope, userId } = actor;
  // The name is checked first, because the check of the passkey uses up the challenge.
  const parsedName = catchInvalid(() => parseName(name, { kind: 'key' }));
  if (parsedName.kind === 'invalid') return parsedName;
  const response = parseRegistration(credential);
  const challenge = response?.clientData.challenge ?? '';
  const spent = await spendChallenge(db, { challenge, browser, purpose: 'registration', now });
  const verified = response === null || spent === null ? null : await verifyRegistration(response, relyingParty);
  if (response === null || spent === null || spent.userHandle === null || verified === null) return NOT_ADDED;
  const { userHandle } = spent;
  try {
    return await runAction(db, async (tx) => {
      await lockSession(tx, actor, token);
      const full = checkPasskeyCount(await listPasskeysOf(tx, scope, userId));
      if (full !== null) return full;
      await insertPasskey(tx, scope, {
        ...verified,
        id: newId(),
        userId,
        userHandle,
        transports: response.transports,
        name: parsedName.value,
        createdAt: now,
      });
      await recordAct(tx, actor, {
        action: 'user.passkey_added',
        targetUserId: userId,
        detail: { passkey: parsedName.value },
      });
      return DONE;
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return NOT_ADDED;
  }
}

const NOT_ADDED = conflict(
  'The passkey was not added. Its creation took too long, or did not fit this page. Try again.',
);

export async function renamePasskey(
  db: Database,
  actor: Actor,
  { id, name }: { id: string; name: string },
): Promise<Done | Invalid> {
  const { scope, userId } = actor;
  const parsedName = catchInvalid(() => parseName(name, { kind: 'key' }));
  if (parsedName.kind === 'invalid') return parsedName;
  const to = parsedName.value;
  return runAction(db, async (tx) => {
    const { name: from } = ownIn(await listPasskeysOf(tx, scope, userId), id);
    if (from === to) return DONE;
    await renameStored(tx, scope, { userId, id, name: to });
    await recordAct(tx, actor, { action: 'user.passkey_renamed', targetUserId: userId, detail: { from, to } });
    return DONE;
  });
}

/** Removes a passkey. Sessions that began with it continue; people can end them on the page Sessions. */
export async function removePasskey(
  db: Database,
  actor: Actor,
  { id, token }: { id: string; token: string },
): Promise<Done | Conflict> {
  const { scope, userId } = actor;
  return runAction(db, async (tx) => {
    // The lock keeps the single sign-on connection, which may be the user's only other way to sign in, from being removed
    // meanwhile.
    await lockOrganization(tx, scope);
    await lockSession(tx, actor, token);
    const { name } = ownIn(await listPasskeysOf(tx, scope, userId), id);
    const { hasPassword, isLinked, passkeys } = await getWaysIn(tx, scope, userId);
    if (!hasPassword && !isLinked && passkeys === 1)
      return conflict('This passkey is your only way to sign in. Add another one first.');
    const refusal = passkeys === 1 ? await checkBreakGlass(tx, scope, { id: userId, email: actor.email }) : null;
    if (refusal !== null) return refusal;
    await deletePasskey(tx, scope, { userId, id });
    await recordAct(tx, actor, { action: 'user.passkey_removed', targetUserId: userId, detail: { passkey: name } });
    return DONE;
  });
}
