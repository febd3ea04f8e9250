import {
  isPermission,
  mayCreateOwnKeys,
  mayGovern,
  mayManage,
  mayRevokeKeysOfOthers,
  maySeeKeysOfOthers,
  maySeePeople,
  mayTakeKeysOf,
  PERMISSIONS,
  permissionsOf,
  ROLES,
  type Role,
} from '../../src/domain/role.ts';

const rolesFor = (may: (role: Role) => boolean) => ROLES.filter(may);

test('own keys: a viewer makes none, a member where the policy lets members', () => {
  expect(rolesFor((role) => mayCreateOwnKeys(role, { membersMayCreateKeys: true }))).toEqual([
    ...['administrator', 'manager', 'member'],
  ]);
  expect(rolesFor((role) => mayCreateOwnKeys(role, { membersMayCreateKeys: false }))).toEqual([
    ...['administrator', 'manager'],
  ]);
});

// The attack: a manager makes or rotates an administrator's key, is shown it, and is an administrator from then on.
test.each<[Role, Role[]]>([
  ['administrator', ['administrator', 'manager', 'member', 'viewer']],
  ['manager', ['manager', 'member', 'viewer']],
  ['member', []],
  ['viewer', []],
])('a %s takes keys of %j', (actor, targets) => {
  expect(rolesFor((target) => mayTakeKeysOf(actor, target))).toEqual(targets);
});

test('a role that may take keys of another role has all permissions of that role', () => {
  for (const actor of ROLES) {
    for (const target of rolesFor((role) => mayTakeKeysOf(actor, role))) {
      expect(permissionsOf(actor)).toEqual(expect.arrayContaining([...permissionsOf(target)]));
    }
  }
});

// The attack: a manager invites an administrator, or demotes one, or sets an equal's password through a link.
test.each<[Role, Role[]]>([
  ['administrator', ['administrator', 'manager', 'member', 'viewer']],
  ['manager', ['member', 'viewer']],
  ['member', []],
  ['viewer', []],
])('a %s manages %j', (actor, targets) => {
  expect(rolesFor((target) => mayManage(actor, target))).toEqual(targets);
});

test('people and others’ keys are seen, and these revoked, by managers and administrators; the latter alone govern', () => {
  expect(rolesFor(maySeePeople)).toEqual(['administrator', 'manager']);
  expect(rolesFor(maySeeKeysOfOthers)).toEqual(['administrator', 'manager']);
  expect(rolesFor(mayRevokeKeysOfOthers)).toEqual(['administrator', 'manager']);
  expect(rolesFor(mayGovern)).toEqual(['administrator']);
});

test('a viewer reads, every other role also writes', () => {
  expect(Object.fromEntries(ROLES.map((role) => [role, permissionsOf(role)]))).toEqual({
    ...{ administrator: PERMISSIONS, manager: PERMISSIONS, member: PERMISSIONS },
    viewer: ['parent_programs:read'],
  });
});

test.each(['', 'parent_programs', 'parent_programs:READ', 'parent_programs:read ', 'constructor', '__proto__'])(
  '%j is no permission',
  (text) => {
    expect(isPermission(text)).toBe(false);
  },
);
