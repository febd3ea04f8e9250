import { v7 as newId } from 'uuid';
import type { Actor } from '../../domain/actor.ts';
import { normalEmail } from '../../domain/email.ts';
import { ForbiddenError, invalidField } from '../../domain/errors.ts';
import { isId } from '../../domain/id.ts';
import { parseName, searchText } from '../../domain/name.ts';
import { isRole, maySeePeople, type Role } from '../../domain/role.ts';
import { recordAudit } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import { isUniqueViolation } from '../../store/database-errors.ts';
import {
  countUsers,
  type FoundUser,
  findUser,
  listUsers as listStored,
  MAX_COUNTED_USERS,
  type UserDetails,
  type UserPosition,
  type UserState,
} from '../../store/user-lists.ts';
import { insertUser } from '../../store/users.ts';
import { claimForm, type OneTimeForm } from '../form-claim.ts';
import { noSuchUser } from '../keys/key-authority.ts';
import { decodePosition, encodePosition, readListPage } from '../list-position.ts';
import {
  ALREADY_SENT,
  type AlreadySent,
  type Conflict,
  conflict,
  type Invalid,
  joinInvalid,
  parsed,
  runAction,
} from '../outcome.ts';
import { refuseForeignEmail } from '../single-sign-on/requirement.ts';
import { addLink, type LinkMade } from './make-link.ts';
import { lockActor, refuseToManage } from './people-authority.ts';

type UserListPage = {
  readonly users: readonly UserDetails[];
  /** How many users match on all list pages, and the place of the first of these; `null` if there are too many to count. */
  readonly range: { readonly first: number; readonly total: number } | null;
  /** `before` of the previous page; `null` on the first page. */
  readonly previous: string | null;
  /** `after` of the next page; `null` on the last page. */
  readonly next: string | null;
};

const PAGE_SIZE = 25;
const SEARCH_CHARACTERS = 100;

/** The users of the organization by name; `search` is a part of the name or the e-mail, in any letter case. */
export async function listUsers(
  db: Database,
  actor: Actor,
  { search = '', state = 'all', after = null, before = null }: UserListRequest = {},
): Promise<UserListPage> {
  refuseToSee(actor.role);
  const filters = { search: searchText(search, SEARCH_CHARACTERS), state };
  const window = { after: positionOf(after), before: positionOf(before), size: PAGE_SIZE };
  const { rows, previous, next } = await readListPage(
    window,
    (from, limit) => listStored(db, actor.scope, { ...filters, from, limit }),
    ({ name, id }) => encodePosition(name, id),
  );
  const counted = await countUsers(db, actor.scope, { ...filters, position: rows.at(0) ?? null });
  return {
    users: rows,
    range: counted.total > MAX_COUNTED_USERS ? null : { first: counted.before + 1, total: counted.total },
    previous,
    next,
  };
}

type UserListRequest = { search?: string; state?: UserState; after?: string | null; before?: string | null };

/** Users may see themselves. To see another user, the actor needs a role that may see the list of users. */
export async function getUser(db: Database, actor: Actor, userId: string): Promise<FoundUser> {
  if (userId !== actor.userId) refuseToSee(actor.role);
  const user = isId(userId) ? await findUser(db, actor.scope, userId) : null;
  if (user === null) throw noSuchUser();
  return user;
}

function refuseToSee(role: Role): void {
  if (!maySeePeople(role))
    throw new ForbiddenError('You may not see the users of your organization. Contact an administrator or support.');
}

type Invitation = OneTimeForm & {
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly now?: Date;
};

/** Creates a user without a password, and the link with which the user sets one. "conflict": the e-mail is in use. */
export async function inviteUser(
  db: Database,
  actor: Actor,
  { email, name, role, formId, now = new Date() }: Invitation,
): Promise<LinkMade | Invalid | Conflict | AlreadySent> {
  const parsedName = parsed(() => parseName(name, { kind: 'person' }));
  const parsedEmail = parsed(() => parseEmail(email));
  const parsedRole = parsed(() => parseRole(role));
  if (parsedName.kind === 'invalid' || parsedEmail.kind === 'invalid' || parsedRole.kind === 'invalid')
    return joinInvalid([parsedName, parsedEmail, parsedRole]);
  const user = {
    id: newId(),
    name: parsedName.value,
    email: parsedEmail.value,
    role: parsedRole.value,
    passwordHash: null,
  };
  try {
    return await runAction(db, async (tx) => {
      if (!(await claimForm(tx, actor.scope, { formId }))) return ALREADY_SENT;
      const inviter = await lockActor(tx, actor);
      refuseToManage(inviter.role, user.role);
      const refusal = await refuseForeignEmail(tx, actor.scope, user.email);
      if (refusal !== null) return refusal;
      await insertUser(tx, actor.scope, user);
      const link = await addLink(tx, actor.scope, { user, kind: 'invitation', madeByUserId: inviter.id, now });
      await recordAudit(tx, actor.scope, {
        action: 'user.invited',
        actorUserId: inviter.id,
        targetUserId: user.id,
        detail: { role: user.role },
        auditSource: actor.auditSource,
      });
      return { kind: 'link-made', link };
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    // The same words for a user of another organization: nothing about the other one.
    return conflict(`The e-mail ${user.email} is in use already. Use another one.`);
  }
}

function parseEmail(text: string): string {
  const email = normalEmail(text);
  if (email === null) throw invalidField('email', 'must be an e-mail address, such as mei@example.org.');
  return email;
}

export function parseRole(role: string): Role {
  if (!isRole(role)) throw invalidField('role', 'must be administrator, manager, member or viewer.');
  return role;
}

function positionOf(text: string | null): UserPosition | null {
  const position = decodePosition(text);
  const [name] = position?.parts ?? [];
  return position === null || name === undefined ? null : { name, id: position.id };
}
