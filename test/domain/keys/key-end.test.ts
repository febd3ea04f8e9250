import { endOf, isExpiringSoon } from '../../../src/domain/keys/api-key.ts';

const NOW = new Date('2026-05-04T12:00:00.000Z');
const at = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);
const DAY = 86_400_000;

test.each([
  ['is active without an expiry', {}, null],
  ['is active a millisecond before its expiry', { expiresAt: at(1) }, null],
  ['has expired at its expiry', { expiresAt: NOW }, 'expired'],
  ['stays expired once it was refused', { expiresAt: at(1), expiredAt: at(1) }, 'expired'],
  ['is active if its expiry was moved since', { expiresAt: at(2), expiredAt: at(1) }, null],
  ['is active if it no longer expires', { expiredAt: at(-1) }, null],
  ['stays rotated after its expiry', { rotatedAt: at(-2), expiresAt: at(-1) }, 'rotated'],
  ['stays revoked after its expiry', { revokedAt: at(-2), expiresAt: at(-1) }, 'revoked'],
])('a key %s', (_, times, kind) => {
  const end = endOf({ rotatedAt: null, revokedAt: null, expiresAt: null, expiredAt: null, ...times }, NOW);
  expect(end?.kind ?? null).toBe(kind);
});

test.each([
  ['never', 365, null, false],
  ['now', 365, NOW, false],
  ['in a millisecond', 365, at(1), true],
  ['in 30 days', 365, at(30 * DAY), true],
  ['in 30 days and a millisecond', 365, at(30 * DAY + 1), false],
  ['in its last fifth', 30, at(6 * DAY), true],
  ['a millisecond before its last fifth', 30, at(6 * DAY + 1), false],
  ['in the 30 days for which it was just made', 30, at(30 * DAY), false],
])('a key that expires %s, of a life of %d days: soon is %s', (_, lifeDays, expiresAt, expected) => {
  const createdAt = new Date((expiresAt ?? NOW).getTime() - lifeDays * DAY);
  expect(isExpiringSoon({ createdAt, expiresAt }, NOW)).toBe(expected);
});
