import { v7 as newId } from 'uuid';
import type { Actor } from '../domain/actor.ts';
import { DomainError, ForbiddenError, invalidField } from '../domain/errors.ts';
import { isId } from '../domain/id.ts';
import { parseName } from '../domain/name.ts';
import { normalEmail } from '../domain/person.ts';
import { isRole, maySeePeople, type Role } from '../domain/role.ts';
import { recordAudit } from '../store/audit.ts';
import { type Database, transaction } from '../store/database.ts';
import { isUniqueViolation } from '../store/database-errors.ts';
import { findUser, insertUser, listUsers as listStored, type UserPosition, type UserView } from '../store/users.ts';
import { type ByForm, claimForm } from './form-claim.ts';
import { noSuchUser } from './key-authority.ts';
import { type AccessLink, addLink } from './make-link.ts';
import { lockActor, refuseToManage } from './people-authority.ts';
import { decodePosition, encodePosition } from './position.ts';

export type { UserView };

type UserPage = {
  readonly users: readonly UserView[];
  /** For the next page's `after`; null: this is the last. */
  readonly next: string | null;
};

const PAGE = 25;
const SEARCH_CHARACTERS = 100;

/** The people of the organization by name; `search` is a part of the name or the e-mail, in any letter case. */
export async function listUsers(
  db: Database,
  actor: Actor,
  { search = '', after = null }: { search?: string; after?: string | null } = {},
): Promise<UserPage> {
  refuseToSee(actor.role);
  const text = [...search.replaceAll('\0', '').normalize('NFC').trim()].slice(0, SEARCH_CHARACTERS).join('');
  const found = await listStored(db, actor.scope, { search: text, after: positionOf(after), limit: PAGE + 1 });
  const users = found.slice(0, PAGE);
  const last = users.at(-1);
  return { users, next: found.length > PAGE && last !== undefined ? encodePosition(last.name, last.id) : null };
}

/** Anybody themselves; others only for whoever sees the list of them. */
export async function getUser(db: Database, actor: Actor, userId: string): Promise<UserView> {
  if (userId !== actor.userId) refuseToSee(actor.role);
  const user = isId(userId) ? await findUser(db, actor.scope, userId) : null;
  if (user === null) throw noSuchUser();
  return user;
}

function refuseToSee(role: Role): void {
  if (!maySeePeople(role))
    throw new ForbiddenError('You may not see the users of your organization. Contact an administrator or support.');
}

type Invitation = ByForm & {
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly now?: Date;
};

/** A user without a password, and the link with which the user sets one. The link is to be shown to the inviter, this once. */
export async function inviteUser(
  db: Database,
  actor: Actor,
  { email, name, role, formId, now = new Date() }: Invitation,
): Promise<AccessLink> {
  const user = { id: newId(), ...parse({ email, name, role }), passwordHash: null };
  try {
    return await transaction(db, async (tx) => {
      await claimForm(tx, actor.scope, { formId });
      const inviter = await lockActor(tx, actor);
      refuseToManage(inviter.role, user.role);
      await insertUser(tx, actor.scope, user);
      const link = await addLink(tx, actor.scope, { user, kind: 'invitation', madeByUserId: inviter.id, now });
      await recordAudit(tx, actor.scope, {
        ...{ act: 'user.invited', actorUserId: inviter.id, targetUserId: user.id, trace: actor.trace },
        detail: { role: user.role },
      });
      return link;
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    // The same words whichever organization has the user: no name, no role, no hint of the other one.
    throw new DomainError('conflict', `The e-mail ${user.email} is in use already. Give another one.`);
  }
}

function parse({ email, name, role }: Pick<Invitation, 'email' | 'name' | 'role'>) {
  const address = normalEmail(email);
  if (address === null) throw invalidField('email', 'must be an e-mail address, such as mei@example.org.');
  return { email: address, name: parseName(name, { kind: 'person' }), role: parseRole(role) };
}

export function parseRole(role: string): Role {
  if (!isRole(role)) throw invalidField('role', 'must be administrator, manager, member or viewer.');
  return role;
}

function positionOf(after: string | null): UserPosition | null {
  const position = decodePosition(after);
  const [name] = position?.parts ?? [];
  return position === null || name === undefined ? null : { name, id: position.id };
}
