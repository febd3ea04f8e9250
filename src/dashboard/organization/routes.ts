import { mayGovern, maySeeKeysOfOthers } from '../../domain/people/role.ts';
import {
  fileUrlOf,
  NOTICE_SETTINGS_URL,
  OPERATION_USES_FILE_URL,
  ORGANIZATION_KEYS_URL,
  ORGANIZATION_REQUESTS_URL,
  ORGANIZATION_URL,
  ORGANIZATION_USAGE_URL,
} from '../http/addresses.ts';
import { withFreshUses } from '../keys/context.ts';
import {
  downloadOrganizationRequests,
  filterOrganizationRequests,
  FILTERS as REQUEST_FILTERS,
  showOrganizationRequests,
} from '../keys/requests.ts';
import { FILTERS } from '../keys/search.ts';
import { provenForm } from '../proof/proven.ts';
import { form, type SignedInPage } from '../routing/page-routes.ts';
import { searchOrganizationKeys, showOrganizationKeys } from './api-keys.ts';
import { NOTICE_FORM, POLICY_FORM, saveNoticeSettings, savePolicy, showPolicy } from './policy.ts';
import {
  downloadOperationUses,
  downloadOrganizationUsage,
  filterOrganizationUsage,
  showOrganizationUsage,
  USAGE_FILTERS,
} from './usage.ts';

export const organizationPages: readonly SignedInPage[] = [
  {
    path: ORGANIZATION_URL,
    mayEnter: mayGovern,
    get: showPolicy,
    post: provenForm('change the policy for API keys', POLICY_FORM, savePolicy),
  },
  {
    path: NOTICE_SETTINGS_URL,
    mayEnter: mayGovern,
    post: provenForm('change the notices about API keys', NOTICE_FORM, saveNoticeSettings),
  },
  {
    path: ORGANIZATION_KEYS_URL,
    mayEnter: maySeeKeysOfOthers,
    get: withFreshUses(showOrganizationKeys),
    post: form(FILTERS, searchOrganizationKeys),
  },
  {
    path: ORGANIZATION_USAGE_URL,
    mayEnter: maySeeKeysOfOthers,
    get: withFreshUses(showOrganizationUsage),
    post: form(USAGE_FILTERS, filterOrganizationUsage),
  },
  {
    path: fileUrlOf(ORGANIZATION_USAGE_URL),
    mayEnter: maySeeKeysOfOthers,
    get: withFreshUses(downloadOrganizationUsage),
  },
  {
    path: OPERATION_USES_FILE_URL,
    mayEnter: maySeeKeysOfOthers,
    get: withFreshUses(downloadOperationUses),
  },
  {
    path: ORGANIZATION_REQUESTS_URL,
    mayEnter: maySeeKeysOfOthers,
    get: withFreshUses(showOrganizationRequests),
    post: form(REQUEST_FILTERS, filterOrganizationRequests),
  },
  {
    path: fileUrlOf(ORGANIZATION_REQUESTS_URL),
    mayEnter: maySeeKeysOfOthers,
    get: withFreshUses(downloadOrganizationRequests),
  },
];
