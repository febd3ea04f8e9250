export const ROLES = ['administrator', 'manager', 'member', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

export const PERMISSIONS = ['parent_programs:read', 'parent_programs:write'] as const;
export type Permission = (typeof PERMISSIONS)[number];

const PERMISSIONS_OF: Record<Role, readonly Permission[]> = {
  administrator: PERMISSIONS,
  manager: PERMISSIONS,
  member: PERMISSIONS,
  viewer: ['parent_programs:read'],
};

export function permissionsOf(role: Role): readonly Permission[] {
  return PERMISSIONS_OF[role];
}

export function isPermission(text: string): text is Permission {
  return PERMISSIONS.some((permission) => permission === text);
}

export function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}

/** What an organization lets its people's keys be. */
export type KeyPolicy = {
  readonly membersMayCreateKeys: boolean;
  /** 1 to 3650: the longest life of a new key. */
  readonly maxKeyLifeDays: number;
  /** Whether a new key may never expire. */
  readonly allowsUnendingKeys: boolean;
};

const RANK: Record<Role, number> = { viewer: 0, member: 1, manager: 2, administrator: 3 };

export function isAbove(role: Role, other: Role): boolean {
  return RANK[role] > RANK[other];
}

/** Create and rotate keys for oneself. */
export function mayCreateOwnKeys(role: Role, { membersMayCreateKeys }: Pick<KeyPolicy, 'membersMayCreateKeys'>) {
  return role === 'member' ? membersMayCreateKeys : role !== 'viewer';
}

/**
 * Create, rotate and rename keys of somebody else. Whoever makes a key is shown it and so has its user's power: no more
 * than one's own.
 */
export function mayTakeKeysOf(actor: Role, target: Role): boolean {
  return maySeeKeysOfOthers(actor) && RANK[target] <= RANK[actor];
}

/** See them, never the secret. */
export function maySeeKeysOfOthers(role: Role): boolean {
  return RANK[role] >= RANK.manager;
}

/** The list of the organization's users, and each one's page. */
export function maySeePeople(role: Role): boolean {
  return RANK[role] >= RANK.manager;
}

/** Whoever's they are, an administrator's too: ending a key gives nobody power. */
export function mayRevokeKeysOfOthers(role: Role): boolean {
  return RANK[role] >= RANK.manager;
}

/** Invite as this role, change to it and from it, deactivate, reactivate, make a link that sets a password. */
export function mayManage(actor: Role, target: Role): boolean {
  return actor === 'administrator' || (actor === 'manager' && RANK[target] < RANK.manager);
}

/** The organization's policy and its audit log. */
export function mayGovern(role: Role): boolean {
  return role === 'administrator';
}
