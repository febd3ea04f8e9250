import { mayGovern, maySeeKeysOfOthers } from '../../domain/people/role.ts';
import { NOTICE_SETTINGS_URL, ORGANIZATION_KEYS_URL, ORGANIZATION_URL, ORGANIZATION_USAGE_URL } from '../addresses.ts';
import { form, type SignedInPage } from '../http/page-routes.ts';
import { FILTER_FIELDS } from '../keys/search.ts';
import { provenForm } from '../proof/proven.ts';
import { searchOrganizationKeys, showOrganizationKeys, showOrganizationUsage } from './api-keys.ts';
import { saveNoticeSettings, savePolicy, showPolicy } from './policy.ts';

export const organizationPages: readonly SignedInPage[] = [
  {
    path: ORGANIZATION_URL,
    mayEnter: mayGovern,
    get: showPolicy,
    post: provenForm(
      'change the policy for API keys',
      ['members_may_create_keys', 'max_key_life_days', 'allows_unending_keys', 'requires_addresses'],
      savePolicy,
    ),
  },
  {
    path: NOTICE_SETTINGS_URL,
    mayEnter: mayGovern,
    post: provenForm(
      'change the notices about API keys',
      ['ends_unused_after_days', 'tells_new_networks'],
      saveNoticeSettings,
    ),
  },
  {
    path: ORGANIZATION_KEYS_URL,
    mayEnter: maySeeKeysOfOthers,
    get: showOrganizationKeys,
    post: form(FILTER_FIELDS, searchOrganizationKeys),
  },
  { path: ORGANIZATION_USAGE_URL, mayEnter: maySeeKeysOfOthers, get: showOrganizationUsage },
];
