import { judgeKey, type KeyRecord } from '../../../src/domain/keys/api-key.ts';
import { PERMISSIONS, permissionsOf, ROLES } from '../../../src/domain/people/role.ts';

const NOW = new Date('2026-05-04T12:00:00.000Z');
const BEFORE = new Date(NOW.getTime() - 1);
const AFTER = new Date(NOW.getTime() + 1);

const ACTIVE: KeyRecord = {
  organizationId: 'o',
  organizationName: 'O',
  organizationSuspendedAt: null,
  organizationIsMoving: false,
  organizationVersion: '0',
  organizationLimits: { perKey: null, perOrganization: null },
  requestsPerSecond: null,
  allowedAddresses: null,
  cursorKey: '',
  id: 'k',
  name: 'K',
  permissions: PERMISSIONS,
  role: 'administrator',
  userDeactivatedAt: null,
  integration: null,
  expiresAt: null,
  expiredAt: null,
  rotatedAt: null,
  revokedAt: null,
};

test('a key without an end or a suspension is active', () => {
  expect(judgeKey(ACTIVE, NOW)).toEqual({ kind: 'active', permissions: PERMISSIONS });
});

test.each([
  ['a millisecond before its expiry', AFTER, 'active'],
  ['at its end', NOW, 'expired'],
  ['a millisecond after its expiry', BEFORE, 'expired'],
])('%s, a key is judged to the millisecond', (_, expiresAt, kind) => {
  expect(judgeKey({ ...ACTIVE, expiresAt }, NOW).kind).toBe(kind);
});

test.each([
  ['expired', { expiresAt: BEFORE }],
  ['rotated', { rotatedAt: BEFORE }],
  ['revoked', { revokedAt: BEFORE }],
  ['deactivated', { userDeactivatedAt: BEFORE }],
] as const)('the verdict on a key that is %s says since when', (kind, change) => {
  expect(judgeKey({ ...ACTIVE, ...change }, NOW)).toEqual({ kind, at: BEFORE });
});

// Revocation is a deliberate decision, so it takes precedence over an expiry.
test('the most deliberate of several reasons is reported', () => {
  const all = { revokedAt: BEFORE, rotatedAt: BEFORE, expiresAt: BEFORE, userDeactivatedAt: BEFORE };
  expect(judgeKey({ ...ACTIVE, ...all }, NOW).kind).toBe('revoked');
  expect(judgeKey({ ...ACTIVE, ...all, revokedAt: null }, NOW).kind).toBe('rotated');
  expect(judgeKey({ ...ACTIVE, ...all, revokedAt: null, rotatedAt: null }, NOW).kind).toBe('expired');
});

// The attack: writing with a key that an administrator created before they were demoted.
test.each(ROLES)('a key of a %s has only the permissions that it was given and that its role allows', (role) => {
  const allowed = permissionsOf(role);
  expect(judgeKey({ ...ACTIVE, role }, NOW)).toEqual({ kind: 'active', permissions: allowed });
});

test('a key never gains a permission from its role that it was not given', () => {
  const readOnly = { ...ACTIVE, permissions: ['parent_programs:read'] };
  expect(judgeKey(readOnly, NOW)).toEqual({ kind: 'active', permissions: ['parent_programs:read'] });
  expect(judgeKey({ ...ACTIVE, permissions: [] }, NOW)).toEqual({ kind: 'active', permissions: [] });
});

test('an unknown permission grants nothing', () => {
  const unknown = { ...ACTIVE, permissions: ['parent_programs:*', 'constructor', 'parent_programs:read'] };
  expect(judgeKey(unknown, NOW)).toEqual({ kind: 'active', permissions: ['parent_programs:read'] });
});
