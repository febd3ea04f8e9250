import { mayGovern, maySeeKeysOfOthers } from '../../domain/role.ts';
import { NOTICE_SETTINGS_URL, ORGANIZATION_KEYS_URL, ORGANIZATION_URL, ORGANIZATION_USAGE_URL } from '../addresses.ts';
import { auditLogPages } from '../audit-log/routes.ts';
import { form, type Section } from '../http/page-routes.ts';
import { FILTER_FIELDS } from '../keys/organization-list.ts';
import { provenForm } from '../proof/proven.ts';
import { searchOrganizationKeys, showOrganizationKeys } from './api-keys.ts';
import { saveNoticeSettings, savePolicy, showPolicy } from './policy.ts';
import { showOrganizationUsage } from './usage.ts';

/** For administrators. */
export const organizationSection: Section = {
  mayEnter: mayGovern,
  pages: [
    {
      path: ORGANIZATION_URL,
      get: showPolicy,
      post: provenForm(
        'change the policy for API keys',
        ['members_may_create_keys', 'max_key_life_days', 'allows_unending_keys', 'requires_addresses'],
        savePolicy,
      ),
    },
    {
      path: NOTICE_SETTINGS_URL,
      post: provenForm(
        'change the notices about API keys',
        ['ends_unused_after_days', 'tells_new_networks'],
        saveNoticeSettings,
      ),
    },
    ...auditLogPages,
  ],
};

/** For managers and administrators. */
export const organizationKeysSection: Section = {
  mayEnter: maySeeKeysOfOthers,
  pages: [
    { path: ORGANIZATION_KEYS_URL, get: showOrganizationKeys, post: form(FILTER_FIELDS, searchOrganizationKeys) },
    { path: ORGANIZATION_USAGE_URL, get: showOrganizationUsage },
  ],
};
