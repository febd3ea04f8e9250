import {
  isPermission,
  mayCreateOwnKeys,
  mayGovern,
  mayManage,
  mayRevokeKeysOfOthers,
  maySeeKeysOfOthers,
  maySeePeople,
  maySeeWebhooks,
  mayTakeKeysOf,
  PERMISSIONS,
  permissionsOf,
  ROLES,
  type Role,
} from '../../../src/domain/people/role.ts';

const rolesFor = (may: (role: Role) => boolean) => ROLES.filter(may);

test('a viewer cannot create own keys, and a member can if the policy allows it', () => {
  expect(rolesFor((role) => mayCreateOwnKeys(role, { membersMayCreateKeys: true }))).toEqual([
    'administrator',
    'manager',
    'member',
  ]);
  expect(rolesFor((role) => mayCreateOwnKeys(role, { membersMayCreateKeys: false }))).toEqual([
    'administrator',
    'manager',
  ]);
});

// The attack: a manager creates or rotates an administrator's key, sees it, and so gets an administrator's access.
test.each<[Role, Role[]]>([
  ['administrator', ['administrator', 'manager', 'member', 'viewer']],
  ['manager', ['manager', 'member', 'viewer']],
  ['member', []],
  ['viewer', []],
])('a %s may create and rotate keys of %j', (actor, targets) => {
  expect(rolesFor((target) => mayTakeKeysOf(actor, target))).toEqual(targets);
});

test('a role that may create keys of another role has all permissions of that role', () => {
  for (const actor of ROLES) {
    for (const target of rolesFor((role) => mayTakeKeysOf(actor, role))) {
      expect(permissionsOf(actor)).toEqual(expect.arrayContaining([...permissionsOf(target)]));
    }
  }
});

// The attack: a manager invites or demotes an administrator, or resets another manager's password.
test.each<[Role, Role[]]>([
  ['administrator', ['administrator', 'manager', 'member', 'viewer']],
  ['manager', ['member', 'viewer']],
  ['member', []],
  ['viewer', []],
])('a %s may manage %j', (actor, targets) => {
  expect(rolesFor((target) => mayManage(actor, target))).toEqual(targets);
});

test('only managers and administrators see people and webhooks and revoke others’ keys, and only administrators govern', () => {
  expect(rolesFor(maySeePeople)).toEqual(['administrator', 'manager']);
  expect(rolesFor(maySeeWebhooks)).toEqual(['administrator', 'manager']);
  expect(rolesFor(maySeeKeysOfOthers)).toEqual(['administrator', 'manager']);
  expect(rolesFor(mayRevokeKeysOfOthers)).toEqual(['administrator', 'manager']);
  expect(rolesFor(mayGovern)).toEqual(['administrator']);
});

test('a viewer reads, every other role also writes', () => {
  expect(Object.fromEntries(ROLES.map((role) => [role, permissionsOf(role)]))).toEqual({
    administrator: PERMISSIONS,
    manager: PERMISSIONS,
    member: PERMISSIONS,
    viewer: PERMISSIONS.filter((permission) => permission.endsWith(':read')),
  });
  expect(permissionsOf('viewer')).toContain('parent_programs:read');
  expect(permissionsOf('viewer')).not.toContain('parent_programs:write');
});

test.each(['', 'parent_programs', 'parent_programs:READ', 'parent_programs:read ', 'constructor', '__proto__'])(
  '%j is no permission',
  (text) => {
    expect(isPermission(text)).toBe(false);
  },
);
