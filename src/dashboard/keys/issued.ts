import { html } from '../../html/html.ts';
import type { KeyIssued } from '../../service/keys/issue-key.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { copyField, emailText, environmentBadge, facts, head } from '../markup/parts.ts';
import { instant, permissionChip } from '../markup/words.ts';
import { addressesFact, limitFact } from './cells.ts';
import { type KeyContext, upToList } from './context.ts';

/**
 * Returns the only page that shows a whole key. `replacedPrefix` is the prefix of the key that this key replaced; `null` if there
 * is none.
 */
export function issuedPage(
  context: KeyContext,
  issued: KeyIssued,
  { replacedPrefix }: { replacedPrefix: string | null },
): View {
  const { key, name, permissions, expiresAt, holder, addresses, limits } = issued;
  const { dashboard, isOwn, backUrl, origin } = context;
  const title = replacedPrefix === null ? 'API key created' : 'API key rotated';
  // If cells share an address, the command uses the shared address, because that stays the same when the organization moves to
  // another cell.
  const apiUrl = dashboard.common?.url ?? origin;
  const curl = `curl -H "Authorization: Bearer ${key}" "${apiUrl}/api/parent_programs?limit=2"`;
  const main = html`${head({ title, up: upToList(context), lead: name })}
<div class="card" data-secret>
${replacedPrefix !== null && html`<p><code>${replacedPrefix}…</code> has stopped working. This key replaces it:</p>`}
<div class="notice warn"><p><strong>This key will not be shown again.</strong> Copy it now, into a secret store${!isOwn && holder.kind === 'person' && html` or straight to ${holder.name}`}. Anyone who has this key can use its permissions.</p></div>
${copyField({ id: 'key', label: 'API key', text: key })}
${copyField({ id: 'variable', label: 'As an environment variable', what: 'environment variable', text: `export CHARTER_API_KEY=${key}` })}
${copyField({ id: 'curl', label: 'Try it', what: 'command', text: curl })}
${addresses.length > 0 && html`<p class="hint">Run the command from an allowed address. From elsewhere, it gets a 403.</p>`}
${facts([
  { name: 'Environment', value: environmentBadge(dashboard.environment) },
  {
    name: 'Acts for',
    value: isOwn ? 'You' : html`${holder.name}, ${holder.email === null ? 'an integration' : emailText(holder.email)}`,
  },
  { name: 'Permissions', value: html`<span class="chips">${permissions.map((each) => permissionChip(each))}</span>` },
  { name: 'Expires', value: expiresAt === null ? 'Never' : instant(expiresAt) },
  addressesFact(issued, { lacksList: false }),
  limitFact(context, { key: issued, limits, usage: null }),
])}
<p class="actions"><a class="button primary" href="${backUrl}">I have copied it</a></p>
</div>`;
  return page(context, { title, main });
}
