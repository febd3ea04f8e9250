import { mayManageIntegrations } from '../../domain/role.ts';
import { form, type Section } from '../http/page-routes.ts';
import { keyPages } from '../keys/routes.ts';
import { provenForm } from '../proof/proven.ts';
import { change, create, FIELDS, showChangeIntegration, showCreateIntegration } from './form.ts';
import { reactivate, showIntegration, take } from './integration.ts';
import { integrationHead } from './integration-head.ts';
import { showIntegrations } from './list.ts';
import { showSuspend, suspend } from './suspend.ts';
import { INTEGRATIONS_URL, integrationIdOf, keysUrlOf } from './urls.ts';

const ONE = `${INTEGRATIONS_URL}/:integrationId`;

/** For managers and administrators. Before the other section, whose paths have an id where these have "new". */
export const integrationChangesSection: Section = {
  mayEnter: mayManageIntegrations,
  pages: [
    { path: `${INTEGRATIONS_URL}/new`, get: showCreateIntegration, post: provenForm([...FIELDS, 'form_id'], create) },
    { path: `${ONE}/change`, get: showChangeIntegration, post: provenForm(FIELDS, change) },
    { path: `${ONE}/suspend`, get: showSuspend, post: form([], suspend) },
    { path: `${ONE}/reactivate`, post: form([], reactivate) },
    { path: `${ONE}/take`, post: form([], take) },
  ],
};

/** For every role: an owner sees the integrations that are theirs. The services decide again for each. */
export const integrationsSection: Section = {
  pages: [
    { path: INTEGRATIONS_URL, get: showIntegrations },
    { path: ONE, get: showIntegration },
    ...keyPages({
      root: ONE,
      isOfIntegrations: true,
      locate: (context) => ({
        holderId: integrationIdOf(context),
        listUrl: keysUrlOf({ id: integrationIdOf(context), email: null }),
        head: (integration) => integrationHead({ integration, current: 'api-keys' }),
      }),
    }),
  ],
};
