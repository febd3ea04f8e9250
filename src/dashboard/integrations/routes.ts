import { mayManageIntegrations } from '../../domain/role.ts';
import { getIntegration } from '../../service/integrations/integrations.ts';
import { INTEGRATIONS_URL, integrationKeysUrl, integrationUrl, NEW_INTEGRATION_URL } from '../addresses.ts';
import type { Section } from '../http/page-routes.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { keyPages } from '../keys/routes.ts';
import { provenForm } from '../proof/proven.ts';
import { change, create, FIELDS, showChangeIntegration, showCreateIntegration } from './form.ts';
import { reactivate, showIntegration, take } from './integration.ts';
import { integrationHead, integrationIdOf } from './integration-head.ts';
import { showIntegrations } from './list.ts';
import { showSuspend, suspend } from './suspend.ts';

const ID = ':integrationId';

async function nameOf(context: SignedInContext): Promise<string> {
  const { actor, dashboard, now } = context;
  return (await getIntegration(dashboard.db, actor, { id: integrationIdOf(context), now })).name;
}

/** For managers and administrators. Before the other section, whose paths have an id where these have "new". */
export const integrationChangesSection: Section = {
  mayEnter: mayManageIntegrations,
  pages: [
    {
      path: NEW_INTEGRATION_URL,
      get: showCreateIntegration,
      post: provenForm('create an integration', [...FIELDS, 'form_id'], create),
    },
    {
      path: integrationUrl(ID, 'change'),
      get: showChangeIntegration,
      post: provenForm('change the integration', FIELDS, change, { nameOf }),
    },
    {
      path: integrationUrl(ID, 'suspend'),
      postsDuringMove: true,
      get: showSuspend,
      post: provenForm('suspend the integration', [], suspend, { nameOf }),
    },
    {
      path: integrationUrl(ID, 'reactivate'),
      post: provenForm('reactivate the integration', [], reactivate, { nameOf }),
    },
    { path: integrationUrl(ID, 'take'), post: provenForm('become the owner of the integration', [], take, { nameOf }) },
  ],
};

/** For every role: an owner sees the integrations that are theirs. The services decide again for each. */
export const integrationsSection: Section = {
  pages: [
    { path: INTEGRATIONS_URL, get: showIntegrations },
    { path: integrationUrl(ID), get: showIntegration },
    ...keyPages({
      listPath: integrationKeysUrl(ID),
      isOfIntegrations: true,
      locate: (context) => ({
        holderId: integrationIdOf(context),
        listUrl: integrationKeysUrl(integrationIdOf(context)),
        head: (integration) => integrationHead({ integration, current: 'api-keys' }),
      }),
    }),
  ],
};
