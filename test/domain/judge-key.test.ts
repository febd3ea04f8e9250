import { judgeKey, type KeyRecord } from '../../src/domain/api-key.ts';
import { PERMISSIONS, ROLES } from '../../src/domain/role.ts';

const NOW = new Date('2026-05-04T12:00:00.000Z');
const BEFORE = new Date(NOW.getTime() - 1);
const AFTER = new Date(NOW.getTime() + 1);

const ACTIVE: KeyRecord = {
  ...{
    organizationId: 'o',
    organizationName: 'O',
    organizationSuspendedAt: null,
    organizationVersion: '0',
    cursorKey: '',
  },
  ...{ id: 'k', name: 'K', permissions: PERMISSIONS, role: 'administrator', userDeactivatedAt: null },
  ...{ expiresAt: null, rotatedAt: null, revokedAt: null },
};

test('a key that nothing speaks against is active', () => {
  expect(judgeKey(ACTIVE, NOW)).toEqual({ kind: 'active', permissions: PERMISSIONS });
});

test.each([
  ['a millisecond before its end', AFTER, 'active'],
  ['at its end', NOW, 'expired'],
  ['a millisecond after its end', BEFORE, 'expired'],
])('%s a key is judged to the millisecond', (_, expiresAt, kind) => {
  expect(judgeKey({ ...ACTIVE, expiresAt }, NOW).kind).toBe(kind);
});

test.each([
  ['expired', { expiresAt: BEFORE }],
  ['rotated', { rotatedAt: BEFORE }],
  ['revoked', { revokedAt: BEFORE }],
  ['deactivated', { userDeactivatedAt: BEFORE }],
] as const)('a key that is %s says since when', (kind, change) => {
  expect(judgeKey({ ...ACTIVE, ...change }, NOW)).toEqual({ kind, at: BEFORE });
});

// Revoked is somebody's decision, so its holder is told that rather than what would have happened anyway.
test('of several reasons the most deliberate one is told', () => {
  const all = { revokedAt: BEFORE, rotatedAt: BEFORE, expiresAt: BEFORE, userDeactivatedAt: BEFORE };
  expect(judgeKey({ ...ACTIVE, ...all }, NOW).kind).toBe('revoked');
  expect(judgeKey({ ...ACTIVE, ...all, revokedAt: null }, NOW).kind).toBe('rotated');
  expect(judgeKey({ ...ACTIVE, ...all, revokedAt: null, rotatedAt: null }, NOW).kind).toBe('expired');
});

// The attack: a key that was made while its user was an administrator goes on writing after the user was demoted.
test.each(ROLES)('a key of a %s may do what it was given and its role allows, and no more', (role) => {
  const allowed = role === 'viewer' ? ['parent_programs:read'] : PERMISSIONS;
  expect(judgeKey({ ...ACTIVE, role }, NOW)).toEqual({ kind: 'active', permissions: allowed });
});

test('a key never gains what it was not given, whatever its role allows', () => {
  const readOnly = { ...ACTIVE, permissions: ['parent_programs:read'] };
  expect(judgeKey(readOnly, NOW)).toEqual({ kind: 'active', permissions: ['parent_programs:read'] });
  expect(judgeKey({ ...ACTIVE, permissions: [] }, NOW)).toEqual({ kind: 'active', permissions: [] });
});

test('a permission that this version does not know grants nothing', () => {
  const unknown = { ...ACTIVE, permissions: ['parent_programs:*', 'constructor', 'parent_programs:read'] };
  expect(judgeKey(unknown, NOW)).toEqual({ kind: 'active', permissions: ['parent_programs:read'] });
});
