import { mayGovern, maySeeWebhooks } from '../../domain/role.ts';
import { getWebhook } from '../../service/webhooks/webhooks.ts';
import { deliveryUrl, endpointUrl, NEW_WEBHOOK_URL, WEBHOOKS_URL } from '../addresses.ts';
import { form, type Section } from '../http/page-routes.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { provenForm } from '../proof/proven.ts';
import { change, disable, enable, remove, showChange, showDelete, showDisable } from './changes.ts';
import { endpointIdOf, hostOf } from './context.ts';
import { createWebhook, showNewWebhook } from './create.ts';
import { resend, sendTest, showDelivery } from './delivery.ts';
import { showWebhook } from './endpoint.ts';
import { showWebhooks } from './list.ts';
import { rotateSecret, showRotateSecret } from './secret.ts';

const ENDPOINT = ':endpointId';
const MESSAGE = ':messageId';

const nameOf = async (context: SignedInContext) =>
  hostOf(await getWebhook(context.dashboard.db, context.actor, endpointIdOf(context)));

/** For administrators. Before the other section, whose paths have an id where these have "new". */
export const webhookChangesSection: Section = {
  mayEnter: mayGovern,
  pages: [
    {
      path: NEW_WEBHOOK_URL,
      get: showNewWebhook,
      post: provenForm('add a webhook endpoint', ['url', 'form_id'], createWebhook, { lists: ['event_types'] }),
    },
    {
      path: endpointUrl(ENDPOINT, 'change'),
      get: showChange,
      post: provenForm('change the webhook endpoint', ['url'], change, { lists: ['event_types'], nameOf }),
    },
    {
      path: endpointUrl(ENDPOINT, 'rotate'),
      get: showRotateSecret,
      post: provenForm('rotate the secret of the webhook endpoint', ['form_id'], rotateSecret, { nameOf }),
    },
    { path: endpointUrl(ENDPOINT, 'disable'), get: showDisable, post: form([], disable) },
    { path: endpointUrl(ENDPOINT, 'enable'), post: form([], enable) },
    {
      path: endpointUrl(ENDPOINT, 'delete'),
      get: showDelete,
      post: provenForm('delete the webhook endpoint', [], remove, { nameOf }),
    },
    { path: endpointUrl(ENDPOINT, 'test'), post: form([], sendTest) },
    { path: deliveryUrl(ENDPOINT, MESSAGE, 'resend'), post: form([], resend) },
  ],
};

/** For managers and administrators. */
export const webhooksSection: Section = {
  mayEnter: maySeeWebhooks,
  pages: [
    { path: WEBHOOKS_URL, get: showWebhooks },
    { path: endpointUrl(ENDPOINT), get: showWebhook },
    { path: deliveryUrl(ENDPOINT, MESSAGE), get: showDelivery },
  ],
};
