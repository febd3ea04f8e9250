import { DEFAULT_LIFE_DAYS, expiryOf } from '../../domain/api-key.ts';
import { type KeyPolicy, type Permission, permissionsOf } from '../../domain/role.ts';
import { count, dayWords } from '../../domain/words.ts';
import type { KeyAccess } from '../../service/key-access.ts';
import type { Problem } from '../http/errors.ts';
import { type Html, html } from '../markup/html.ts';
import { field, fieldError, head, hidden, postForm, problemSummary } from '../markup/parts.ts';
import { PERMISSION_WORDS } from '../markup/words.ts';

export type Typed = { readonly name: string; readonly permissions: readonly string[]; readonly expiry: string };

export type FormFrame = { base: string; formToken: string; onceId: string; problem: Problem | null };

const LABELS = { name: 'Name', permissions: 'Permissions', expiry: 'Expiry' };
const LIVES = [7, 30, 90, 180, 365, 730];

/** What the form starts with: everything that the user may do, for the usual time. */
export function untyped({ holder, policy }: KeyAccess): Typed {
  const days = Math.min(DEFAULT_LIFE_DAYS, policy.maxKeyLifeDays);
  return { name: '', permissions: permissionsOf(holder.role), expiry: String(days) };
}

export function createForm(
  { base, formToken, onceId, problem }: FormFrame,
  { access, isOwn, typed, now }: { access: KeyAccess; isOwn: boolean; typed: Typed; now: Date },
): Html {
  const { holder, policy } = access;
  const fields = problem?.fields ?? {};
  return html`${head({
    title: 'Create API Key',
    up: { name: 'API keys', href: base },
    lead: isOwn
      ? 'The key acts in your name.'
      : `The key acts for ${holder.name}, ${holder.email}. You will be shown it and must pass it on.`,
  })}
${problemSummary(problem, LABELS)}
<div class="card narrow">${postForm(
    { action: base, formToken },
    html`${hidden('once', onceId)}
${field(
  {
    name: 'name',
    label: LABELS.name,
    hint: 'What the key is for, such as “Nightly import, production”.',
    errors: fields,
  },
  (attributes) =>
    html`<input ${attributes} type="text" value="${typed.name}" maxlength="100" required autocomplete="off">`,
)}
<fieldset class="field" id="permissions" tabindex="-1"><legend>Permissions</legend>
${fieldError('permissions', LABELS.permissions, fields['permissions'] ?? [])}
${permissionsOf(holder.role).map((permission) => permissionBox(permission, typed))}</fieldset>
${field(
  {
    name: 'expiry',
    label: LABELS.expiry,
    hint: 'Afterwards the key is refused. Create another one before then; rotating keeps this date.',
    errors: fields,
  },
  (attributes) =>
    html`<select ${attributes}>${lifeOptions(policy, now).map(
      ({ value, words }) =>
        html`<option value="${value}"${typed.expiry === value && html` selected`}>${words}</option>`,
    )}</select>`,
)}
<div class="actions"><button class="button primary">Create API Key</button><a class="button plain" href="${base}">Cancel</a></div>`,
  )}</div>`;
}

function permissionBox(permission: Permission, { permissions }: Typed): Html {
  return html`<label class="choice"><input type="checkbox" name="permissions" value="${permission}"${permissions.includes(permission) && html` checked`}>
<span><code>${permission}</code><span class="hint">${PERMISSION_WORDS[permission]}</span></span></label>`;
}

function lifeOptions({ maxKeyLifeDays, allowsUnendingKeys }: KeyPolicy, now: Date) {
  const lives = [...new Set([...LIVES.filter((days) => days < maxKeyLifeDays), maxKeyLifeDays])];
  const options = lives.map((days) => {
    const until = expiryOf(now, days);
    return { value: String(days), words: `${count(days, 'day')}${until === null ? '' : `, until ${dayWords(until)}`}` };
  });
  return allowsUnendingKeys ? [...options, { value: 'never', words: 'Never expires' }] : options;
}
