import type { Actor } from '../../domain/audit/actor.ts';
import { invalidField } from '../../domain/errors.ts';
import { searchText } from '../../domain/name.ts';
import { withNormalDomain } from '../../domain/people/email.ts';
import { isRole, type Role } from '../../domain/people/role.ts';
import { isId } from '../../domain/text.ts';
import {
  countUsers,
  type FoundUser,
  findUser,
  listUsers as listStored,
  MAX_COUNTED_USERS,
  type UserDetails,
  type UserPosition,
  type UserState,
} from '../../store/people/user-lists.ts';
import type { Database } from '../../store/sql/database.ts';
import { noSuchUser } from '../authority/people.ts';
import { requireRight } from '../authority/rights.ts';
import { decodePosition, encodePosition, readListPage } from '../list-position.ts';

type UserListPage = {
  readonly users: readonly UserDetails[];
  /**
   * The number of users that match, and the position of the page's first user among them, counted from 1; `null` if there are too
   * many users to count.
   */
  readonly range: { readonly first: number; readonly total: number } | null;
  /** The `before` parameter of the previous page; `null` on the first page. */
  readonly previous: string | null;
  /** The `after` parameter of the next page; `null` on the last page. */
  readonly next: string | null;
};

const PAGE_SIZE = 25;
const SEARCH_CHARACTERS = 100;

/** Lists the users of the organization by name. `search` is a part of the name or the e-mail; the letter case does not matter. */
export async function listUsers(
  db: Database,
  actor: Actor,
  { search = '', state = 'all', after = null, before = null }: UserListRequest = {},
): Promise<UserListPage> {
  requireRight(actor, 'see people');
  const filters = { search: searchText(withNormalDomain(search), SEARCH_CHARACTERS), state };
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

/** Returns a user of the organization. Throws "forbidden" if the user is somebody else and the actor may not see other people. */
export async function getUser(db: Database, actor: Actor, userId: string): Promise<FoundUser> {
  if (userId !== actor.userId) requireRight(actor, 'see people');
  const user = isId(userId) ? await findUser(db, actor.scope, userId) : null;
  if (user === null) throw noSuchUser();
  return user;
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
