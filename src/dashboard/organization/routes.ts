import { mayGovern, maySeeKeysOfOthers } from '../../domain/role.ts';
import { auditLogPages } from '../audit-log/routes.ts';
import { form, type Section } from '../http/page-routes.ts';
import { FILTER_FIELDS, searchOrganizationKeys, showOrganizationKeys } from './api-keys.ts';
import { savePolicy, showPolicy } from './policy.ts';
import { ORGANIZATION_USE, showOrganizationUse } from './use.ts';

/** For administrators. */
export const organizationSection: Section = {
  mayEnter: mayGovern,
  pages: [
    {
      path: '/organization',
      get: showPolicy,
      post: form(['members_may_create_keys', 'max_key_life_days', 'allows_unending_keys'], savePolicy),
    },
    ...auditLogPages,
  ],
};

/** For managers and administrators. */
export const organizationKeysSection: Section = {
  mayEnter: maySeeKeysOfOthers,
  pages: [
    { path: '/organization/api-keys', get: showOrganizationKeys, post: form(FILTER_FIELDS, searchOrganizationKeys) },
    { path: ORGANIZATION_USE, get: showOrganizationUse },
  ],
};
