import { PREVIOUS_SECRET_HOURS } from '../../domain/webhooks/webhook-endpoint.ts';
import { html } from '../../html/html.ts';
import { getEndpoint, rotateEndpointSecret, type WebhookSecretIssued } from '../../service/webhooks/endpoints.ts';
import { ONE_TIME_FORM } from '../forms/fields.ts';
import { type Form, fieldsOf } from '../forms/form.ts';
import { alreadySentPage } from '../forms/one-time-form.ts';
import { endpointUrl, WEBHOOKS_URL } from '../http/addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { actionForm, copyField, environmentBadge, facts, head } from '../markup/parts.ts';
import { instant } from '../markup/words.ts';
import { endpointIdOf, hostOf } from './context.ts';

/** Returns the only page that shows a secret. */
export function secretPage(context: SignedInContext, { id, url, secret, previousUntil }: WebhookSecretIssued): View {
  const isRotation = previousUntil !== null;
  const title = isRotation ? 'Webhook secret rotated' : 'Webhook endpoint added';
  const up = isRotation ? { name: hostOf({ url }), href: endpointUrl(id) } : { name: 'Webhooks', href: WEBHOOKS_URL };
  const main = html`${head({ title, up, lead: html`<span class="breakable">${url}</span>` })}
<div class="card" data-secret>
<div class="notice warn"><p><strong>This secret will not be shown again.</strong> Copy it now, into the secret store of your receiver, which verifies with it that an event comes from Charter.</p></div>
${copyField({ id: 'secret', label: 'Secret', text: secret })}
${isRotation && html`<p>Until ${instant(previousUntil)}, each event also has a signature with the previous secret. Give your receiver the new one before then.</p>`}
${facts([{ name: 'Environment', value: environmentBadge(context.dashboard.environment) }])}
<p class="actions"><a class="button primary" href="${endpointUrl(id)}">I have copied it</a></p>
</div>`;
  return page(context, { title, main });
}

export async function showRotateSecret(context: SignedInContext): Promise<View> {
  const { actor, dashboard, now } = context;
  const endpoint = await getEndpoint(dashboard.db, actor, endpointIdOf(context));
  const url = endpointUrl(endpoint.id);
  const { previousSecretUntil } = endpoint;
  const title = 'Rotate the secret';
  const main = html`${head({ title, up: { name: hostOf(endpoint), href: url }, lead: html`<span class="breakable">${endpoint.url}</span>` })}
<div class="card narrow">
<p>A new secret replaces the present one. You see it once, on the next page.</p>
<p>For ${PREVIOUS_SECRET_HOURS} hours, each event has a signature with the new secret and one with the present secret, so that no event is refused while you change your receiver.</p>
${
  previousSecretUntil !== null &&
  previousSecretUntil > now &&
  html`<div class="notice warn"><p><strong>The secret was rotated less than ${PREVIOUS_SECRET_HOURS} hours ago.</strong> The one before it signs until ${instant(previousSecretUntil)}. As soon as you press Rotate, it signs no more: a receiver that still has it refuses events.</p></div>`
}
${actionForm(context, { action: endpointUrl(endpoint.id, 'rotate'), fields: fieldsOf(ONE_TIME_FORM, { typed: {}, problem: null }, { context }).formId, button: 'Rotate', cancel: url })}</div>`;
  return page(context, { title, main });
}

export async function rotateSecret(context: SignedInContext, { values }: Form<typeof ONE_TIME_FORM>): Promise<View> {
  const { actor, dashboard, now } = context;
  const endpointId = endpointIdOf(context);
  const outcome = await rotateEndpointSecret(dashboard.db, actor, { endpointId, ...values, now });
  if (outcome.kind === 'issued') return secretPage(context, outcome);
  return alreadySentPage(context, 'webhook-secret', { name: 'See the endpoint', href: endpointUrl(endpointId) });
}
