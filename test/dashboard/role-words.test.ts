import { ROLE_WORDS } from '../../src/dashboard/markup/words.ts';
import {
  mayCreateOwnKeys,
  mayGovern,
  mayManage,
  mayRevokeKeysOfOthers,
  mayTakeKeysOf,
  ROLES,
  type Role,
} from '../../src/domain/role.ts';

const LIST = new Intl.ListFormat('en-GB');
const namesOf = (roles: readonly Role[]) => LIST.format(roles.map((role) => `${role}s`));
const others = (role: Role, may: (actor: Role, target: Role) => boolean) => ROLES.filter((target) => may(role, target));

/** What the rules allow a role, in the words of the dashboard. */
function meaningOf(role: Role): string {
  if (mayGovern(role)) return 'All keys, all people and the organization.';
  if (!mayCreateOwnKeys(role, { membersMayCreateKeys: true })) return 'Reads only. Cannot create keys.';
  if (!mayCreateOwnKeys(role, { membersMayCreateKeys: false }))
    return 'Own keys, if the organization lets members create them.';
  const keys = `keys of ${namesOf(others(role, mayTakeKeysOf))}`;
  const accounts = `accounts of ${namesOf(others(role, mayManage))}`;
  return `Own keys, ${keys}, and ${accounts}.${mayRevokeKeysOfOthers(role) ? ' Can revoke every key.' : ''}`;
}

test.each(ROLES)('the words about the role %s are those of the rules', (role) => {
  expect(ROLE_WORDS[role].meaning).toBe(meaningOf(role));
});

test('an administrator may take all keys and manage all people, as the words say', () => {
  expect(others('administrator', mayTakeKeysOf)).toEqual(ROLES);
  expect(others('administrator', mayManage)).toEqual(ROLES);
});
