import { mayGovern, maySeeWebhooks } from '../../domain/people/role.ts';
import { getEndpoint } from '../../service/webhooks/endpoints.ts';
import { ONE_TIME_FORM } from '../forms/fields.ts';
import { deliveryUrl, endpointUrl, NEW_WEBHOOK_URL, WEBHOOKS_URL } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { provenForm } from '../proof/proven.ts';
import { form, type SignedInPage } from '../routing/page-routes.ts';
import {
  change,
  disable,
  enable,
  RESEND_FAILED_FORM,
  remove,
  resendAllFailed,
  showChange,
  showDelete,
  showDisable,
  showResendFailed,
} from './changes.ts';
import { endpointIdOf, hostOf } from './context.ts';
import { CONTENT_FIELDS, CREATE_FORM, createWebhook, showNewWebhook } from './create.ts';
import { resend, sendTest, showDelivery } from './delivery.ts';
import { showWebhook } from './endpoint.ts';
import { showWebhooks } from './list.ts';
import { rotateSecret, showRotateSecret } from './secret.ts';

const ENDPOINT = ':endpointId';
const MESSAGE = ':messageId';

const nameOf = async (context: SignedInContext) =>
  hostOf(await getEndpoint(context.dashboard.db, context.actor, endpointIdOf(context)));

/** The pages of webhooks. Managers may see webhooks; only administrators may change them. */
export const webhookPages: readonly SignedInPage[] = [
  { path: WEBHOOKS_URL, mayEnter: maySeeWebhooks, get: showWebhooks },
  { path: endpointUrl(ENDPOINT), mayEnter: maySeeWebhooks, get: showWebhook },
  { path: deliveryUrl(ENDPOINT, MESSAGE), mayEnter: maySeeWebhooks, get: showDelivery },
  {
    path: NEW_WEBHOOK_URL,
    mayEnter: mayGovern,
    get: showNewWebhook,
    post: provenForm('add a webhook endpoint', CREATE_FORM, createWebhook),
  },
  {
    path: endpointUrl(ENDPOINT, 'change'),
    mayEnter: mayGovern,
    get: showChange,
    post: provenForm('change the webhook endpoint', CONTENT_FIELDS, change, { nameOf }),
  },
  {
    path: endpointUrl(ENDPOINT, 'rotate'),
    mayEnter: mayGovern,
    get: showRotateSecret,
    post: provenForm('rotate the secret of the webhook endpoint', ONE_TIME_FORM, rotateSecret, { nameOf }),
  },
  { path: endpointUrl(ENDPOINT, 'disable'), mayEnter: mayGovern, get: showDisable, post: form({}, disable) },
  { path: endpointUrl(ENDPOINT, 'enable'), mayEnter: mayGovern, post: form({}, enable) },
  {
    path: endpointUrl(ENDPOINT, 'delete'),
    mayEnter: mayGovern,
    get: showDelete,
    post: provenForm('delete the webhook endpoint', {}, remove, { nameOf }),
  },
  {
    path: endpointUrl(ENDPOINT, 'resend'),
    mayEnter: mayGovern,
    get: showResendFailed,
    post: form(RESEND_FAILED_FORM, resendAllFailed),
  },
  { path: endpointUrl(ENDPOINT, 'test'), mayEnter: mayGovern, post: form({}, sendTest) },
  { path: deliveryUrl(ENDPOINT, MESSAGE, 'resend'), mayEnter: mayGovern, post: form({}, resend) },
];
