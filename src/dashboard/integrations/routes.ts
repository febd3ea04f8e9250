import { mayManageIntegrations } from '../../domain/people/role.ts';
import { getIntegration } from '../../service/integrations/integrations.ts';
import { INTEGRATIONS_URL, integrationKeysUrl, integrationUrl, NEW_INTEGRATION_URL } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { withFreshUses } from '../keys/context.ts';
import { keyPages } from '../keys/routes.ts';
import { provenForm } from '../proof/proven.ts';
import { anyRole, type SignedInPage } from '../routing/page-routes.ts';
import { CONTENT_FIELDS, CREATE_FORM, change, create, showChangeIntegration, showCreateIntegration } from './form.ts';
import { reactivate, showIntegration, showSuspend, suspend, take } from './integration.ts';
import { integrationHead, integrationIdOf } from './integration-head.ts';
import { showIntegrations } from './list.ts';

const ID = ':integrationId';

async function nameOf(context: SignedInContext): Promise<string> {
  const { actor, dashboard, now } = context;
  return (await getIntegration(dashboard.db, actor, { id: integrationIdOf(context), now })).name;
}

/** People of every role may open the integrations that they own. The services check the permission for each integration. */
export const integrationPages: readonly SignedInPage[] = [
  { path: INTEGRATIONS_URL, mayEnter: anyRole, get: withFreshUses(showIntegrations) },
  { path: integrationUrl(ID), mayEnter: anyRole, get: withFreshUses(showIntegration) },
  {
    path: NEW_INTEGRATION_URL,
    mayEnter: mayManageIntegrations,
    get: showCreateIntegration,
    post: provenForm('create an integration', CREATE_FORM, create),
  },
  {
    path: integrationUrl(ID, 'change'),
    mayEnter: mayManageIntegrations,
    get: showChangeIntegration,
    post: provenForm('change the integration', CONTENT_FIELDS, change, { nameOf }),
  },
  {
    path: integrationUrl(ID, 'suspend'),
    mayEnter: mayManageIntegrations,
    postsDuringMove: true,
    get: withFreshUses(showSuspend),
    post: provenForm('suspend the integration', {}, suspend, { nameOf }),
  },
  {
    path: integrationUrl(ID, 'reactivate'),
    mayEnter: mayManageIntegrations,
    post: provenForm('reactivate the integration', {}, reactivate, { nameOf }),
  },
  {
    path: integrationUrl(ID, 'take'),
    mayEnter: mayManageIntegrations,
    post: provenForm('become the owner of the integration', {}, take, { nameOf }),
  },
  ...keyPages({
    listPath: integrationKeysUrl(ID),
    mayEnter: anyRole,
    holderKind: 'integration',
    locate: (context) => ({
      holderId: integrationIdOf(context),
      listUrl: integrationKeysUrl(integrationIdOf(context)),
      head: (integration) => integrationHead({ integration, current: 'api-keys' }),
    }),
  }),
];
