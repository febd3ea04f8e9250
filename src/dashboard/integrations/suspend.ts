import { formatCount } from '../../domain/format.ts';
import { html } from '../../html/html.ts';
import { suspendIntegration } from '../../service/integrations/act-on-integration.ts';
import { getIntegration } from '../../service/integrations/integrations.ts';
import { listActiveKeys } from '../../service/keys/list-keys.ts';
import { integrationKeysUrl, integrationUrl } from '../addresses.ts';
import { doneDuringMove } from '../http/errors.ts';
import { problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { keyLine } from '../keys/cells.ts';
import { page } from '../markup/layout.ts';
import { beside, head, postForm } from '../markup/parts.ts';
import { integrationPage } from './integration.ts';
import { integrationIdOf } from './integration-head.ts';

export async function showSuspend(context: SignedInContext): Promise<View> {
  const { actor, dashboard, formToken, now } = context;
  const { id, name } = await getIntegration(dashboard.db, actor, { id: integrationIdOf(context), now });
  const keys = await listActiveKeys(dashboard.db, actor, { userId: id, now });
  const [title, url] = [`Suspend ${name}`, integrationUrl(id)];
  const effect =
    keys.length === 0
      ? 'It has no active API key.'
      : `${formatCount(keys.length, 'active API key')} ${keys.length === 1 ? 'is' : 'are'} refused with 401.`;
  const content = html`<div class="notice danger"><p><strong>As soon as you press Suspend, no key of ${name} works.</strong> ${effect}</p></div>
<p>The keys are not revoked: if you reactivate the integration, they work again.</p>
${postForm(
  { action: integrationUrl(id, 'suspend'), formToken },
  html`<div class="actions"><button class="button danger">Suspend</button><a class="button plain" href="${url}">Cancel</a></div>`,
)}`;
  const listUrl = integrationKeysUrl(id);
  const lines = html`<ul class="lines">${keys.map((key) => keyLine(key, listUrl, now))}</ul>`;
  const main = html`${head({ title, up: { name, href: url } })}
${keys.length > 0 ? beside({ title: 'API keys that stop working', about: lines, content }) : html`<div class="card narrow">${content}</div>`}`;
  return page(context, { title, main });
}

export async function suspend(context: SignedInContext): Promise<View> {
  const id = integrationIdOf(context);
  const outcome = await suspendIntegration(context.dashboard.db, context.actor, { id, now: context.now });
  if (outcome.kind !== 'done') return integrationPage(context, problemOf(outcome));
  if (context.isMoving) return doneDuringMove(context, 'The integration is suspended.');
  return redirect(`${integrationUrl(id)}?done=suspended`);
}
