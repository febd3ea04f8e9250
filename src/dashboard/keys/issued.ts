import type { KeyIssued } from '../../service/issue-key.ts';
import type { View } from '../http/view.ts';
import { html } from '../markup/html.ts';
import { page } from '../markup/layout.ts';
import { copyField, environmentBadge, head } from '../markup/parts.ts';
import { instant, permissionChip } from '../markup/words.ts';
import type { KeyContext } from './context.ts';

/** The only page that shows a key. `replacedPrefix`: of the key that it replaces; null: it replaces none. */
export function issuedPage(
  context: KeyContext,
  { key, name, permissions, expiresAt, holder }: KeyIssued,
  { replacedPrefix }: { replacedPrefix: string | null },
): View {
  const { dashboard, isOwn, listUrl, origin } = context;
  const title = replacedPrefix === null ? 'API key created' : 'API key rotated';
  const curl = `curl -H "Authorization: Bearer ${key}" "${origin}/api/parent_programs?limit=2"`;
  const main = html`${head({ title, up: { name: 'API keys', href: listUrl }, lead: name })}
<div class="card" data-secret>
${replacedPrefix !== null && html`<p><code>${replacedPrefix}…</code> has stopped working. This key replaces it:</p>`}
<div class="notice warn"><p><strong>This key will not be shown again.</strong> Copy it now, into a secret store${!isOwn && html` or straight to ${holder.name}`}. Anyone who has this key can use its permissions.</p></div>
${copyField({ id: 'key', label: 'API key', text: key })}
${copyField({ id: 'curl', label: 'Try it', what: 'command', text: curl })}
<dl class="facts">
<div><dt>Environment</dt><dd>${environmentBadge(dashboard.environment)}</dd></div>
<div><dt>Acts for</dt><dd>${isOwn ? 'You' : `${holder.name}, ${holder.email}`}</dd></div>
<div><dt>Permissions</dt><dd class="chips">${permissions.map((permission) => permissionChip(permission))}</dd></div>
<div><dt>Expires</dt><dd>${expiresAt === null ? 'Never' : instant(expiresAt)}</dd></div>
</dl>
<p class="actions"><a class="button primary" href="${listUrl}">I have copied it</a></p>
</div>`;
  return page(context, { title, main });
}
