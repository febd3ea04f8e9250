export const ROLES = ['administrator', 'manager', 'member', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** All permissions. The contract and the database list them, too; a test compares the three lists. */
export const PERMISSIONS = ['parent_programs:read', 'parent_programs:write'] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const READ_PERMISSIONS = PERMISSIONS.filter((permission) => permission.endsWith(':read'));

const PERMISSIONS_OF: Record<Role, readonly Permission[]> = {
  administrator: PERMISSIONS,
  manager: PERMISSIONS,
  member: PERMISSIONS,
  viewer: READ_PERMISSIONS,
};

export function permissionsOf(role: Role): readonly Permission[] {
  return PERMISSIONS_OF[role];
}

/** Returns whether one of the permissions allows more than reading. */
export function mayWrite(permissions: readonly string[]): boolean {
  return permissions.some((permission) => !READ_PERMISSIONS.some((reading) => reading === permission));
}

export function rolesWith(permission: Permission): Role[] {
  return ROLES.filter((role) => PERMISSIONS_OF[role].includes(permission));
}

export function isPermission(text: string): text is Permission {
  return PERMISSIONS.some((permission) => permission === text);
}

export function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}

/** An organization's policy for new keys. */
export type KeyPolicy = {
  readonly membersMayCreateKeys: boolean;
  /** The longest life of a new key in days, from 1 to 3650. */
  readonly maxKeyLifeDays: number;
  /** Whether a new key may have no expiry. */
  readonly allowsUnendingKeys: boolean;
  /** Whether a key with a write permission needs a list of allowed addresses. */
  readonly requiresAddresses: boolean;
};

const RANK: Record<Role, number> = { viewer: 0, member: 1, manager: 2, administrator: 3 };

export function isAbove(role: Role, other: Role): boolean {
  return RANK[role] > RANK[other];
}

/** Returns whether a user with this role may create, rotate and rename their own keys. */
export function mayCreateOwnKeys(role: Role, { membersMayCreateKeys }: Pick<KeyPolicy, 'membersMayCreateKeys'>) {
  return role === 'member' ? membersMayCreateKeys : role !== 'viewer';
}

/**
 * Returns whether the actor may create, rotate and rename keys of another user. The actor sees such a key and can use it, so the
 * permissions of the user's role must not exceed the actor's own.
 */
export function mayTakeKeysOf(actor: Role, target: Role): boolean {
  return maySeeKeysOfOthers(actor) && RANK[target] <= RANK[actor];
}

/** Returns whether a user with this role may see the keys of other users, though never their secrets. */
export function maySeeKeysOfOthers(role: Role): boolean {
  return RANK[role] >= RANK.manager;
}

/** The roles that an integration can have. These roles do not allow the integration to manage anybody. */
export const INTEGRATION_ROLES = ['member', 'viewer'] as const satisfies readonly Role[];
export type IntegrationRole = (typeof INTEGRATION_ROLES)[number];

export function isIntegrationRole(text: string): text is IntegrationRole {
  return INTEGRATION_ROLES.some((role) => role === text);
}

/**
 * Returns whether a user with this role may see, create, change and suspend every integration of the organization. The owner of
 * an integration may see it, regardless of the owner's role.
 */
export function mayManageIntegrations(role: Role): boolean {
  return RANK[role] >= RANK.manager;
}

/**
 * Returns whether the owner of an integration may create, rotate and rename its keys. The owner needs the same rights as for
 * their own keys, and the permissions of the integration's role must not exceed the owner's.
 */
export function mayTakeKeysOfOwned(
  role: Role,
  integration: Role,
  policy: Pick<KeyPolicy, 'membersMayCreateKeys'>,
): boolean {
  return mayCreateOwnKeys(role, policy) && RANK[integration] <= RANK[role];
}

export function maySeePeople(role: Role): boolean {
  return RANK[role] >= RANK.manager;
}

/**
 * Returns whether a user with this role may revoke the keys of all users. This includes the keys of administrators, because a
 * revocation gives nobody permissions.
 */
export function mayRevokeKeysOfOthers(role: Role): boolean {
  return RANK[role] >= RANK.manager;
}

/**
 * Returns whether the actor may manage users with the target role: invite them, change their role or give it to others,
 * deactivate and reactivate them, and create access links for them.
 */
export function mayManage(actor: Role, target: Role): boolean {
  return actor === 'administrator' || (actor === 'manager' && RANK[target] < RANK.manager);
}

/**
 * Returns whether a user with this role may see the webhook endpoints and what was sent to them, though not the responses of the
 * receivers.
 */
export function maySeeWebhooks(role: Role): boolean {
  return RANK[role] >= RANK.manager;
}

/** Returns whether a user with this role may change the organization's policy and webhook endpoints, and read its audit log. */
export function mayGovern(role: Role): boolean {
  return role === 'administrator';
}
