import type { IssuedKey } from '../../service/issue-key.ts';
import { type Html, html } from '../markup/html.ts';
import { copyField, head } from '../markup/parts.ts';
import { instant, permissionChip } from '../markup/words.ts';

type Reveal = {
  readonly issued: IssuedKey;
  readonly holder: { readonly name: string; readonly email: string };
  readonly isOwn: boolean;
  readonly base: string;
  readonly origin: string;
  /** The key that has just ended; null: none did. */
  readonly replaced: { readonly prefix: string } | null;
};

/** The only page on which a key ever stands. */
export function revealPage({ issued, holder, isOwn, base, origin, replaced }: Reveal): Html {
  const curl = `curl -H "Authorization: Bearer ${issued.key}" "${origin}/api/parent_programs?limit=2"`;
  return html`${head({
    title: replaced === null ? 'API key created' : 'API key rotated',
    up: { name: 'API keys', href: base },
    lead: issued.name,
  })}
<div class="card" data-secret>
${replaced !== null && html`<p><code>${replaced.prefix}…</code> has stopped working. This key takes its place:</p>`}
<div class="notice warn"><p><strong>This key will not be shown again.</strong> Copy it now, into a secret store${!isOwn && html` or straight to ${holder.name}`}. Whoever has it can do what it may.</p></div>
${copyField({ id: 'key', label: 'API key', text: issued.key })}
${copyField({ id: 'curl', label: 'Try it', what: 'command', text: curl })}
<dl class="facts">
<div><dt>Acts for</dt><dd>${isOwn ? 'You' : `${holder.name}, ${holder.email}`}</dd></div>
<div><dt>Permissions</dt><dd class="chips">${issued.permissions.map((permission) => permissionChip(permission))}</dd></div>
<div><dt>Expires</dt><dd>${issued.expiresAt === null ? 'Never' : instant(issued.expiresAt)}</dd></div>
</dl>
<p class="actions"><a class="button primary" href="${base}">I have copied it</a></p>
</div>`;
}
