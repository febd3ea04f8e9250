import { DEFAULT_LIFE_DAYS, expiryOf } from '../../domain/api-key.ts';
import { formatCount, formatDay } from '../../domain/format.ts';
import { isPermission, type KeyPolicy, type Permission, permissionsOf } from '../../domain/role.ts';
import { issueKey } from '../../service/issue-key.ts';
import { getKeyAccess, type KeyAccess } from '../../service/key-access.ts';
import { invalid } from '../../service/outcome.ts';
import type { Form } from '../http/forms.ts';
import { alreadySentPage, newFormId, readFormId } from '../http/one-time-form.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { View } from '../http/view.ts';
import { type Html, html } from '../markup/html.ts';
import { page } from '../markup/layout.ts';
import { environmentBadge, field, fieldError, head, hidden, postForm, problemSummary } from '../markup/parts.ts';
import { PERMISSION_WORDS } from '../markup/words.ts';
import { type KeyContext, toList } from './context.ts';
import { issuedPage } from './issued.ts';
import { refusalOf, refusedPage } from './refused.ts';

/** The values of the form's fields. */
type Values = { readonly name: string; readonly permissions: readonly string[]; readonly expiry: string };

export async function showCreate(context: KeyContext): Promise<View> {
  return createPage(context, null);
}

export async function create(
  context: KeyContext,
  form: Form<'name' | 'expiry' | 'form_id' | 'permissions'>,
): Promise<View> {
  const values = { name: form.text('name'), permissions: form.all('permissions'), expiry: form.text('expiry') };
  const formId = readFormId(context, form.text('form_id'));
  const permissions = values.permissions.filter(isPermission);
  if (permissions.length < values.permissions.length) {
    const refusal = invalid('permissions', 'must be among the permissions that the form offers.');
    return createPage(context, { problem: problemOf(refusal), values });
  }
  const { dashboard, actor, holderId } = context;
  const outcome = await issueKey(dashboard.db, actor, {
    userId: holderId,
    name: values.name,
    permissions,
    lifeDays: readLifeDays(values.expiry),
    environment: dashboard.environment,
    formId,
  });
  switch (outcome.kind) {
    case 'issued':
      return issuedPage(context, outcome, { replacedPrefix: null });
    case 'invalid':
    case 'name-taken':
    case 'conflict':
      return createPage(context, { problem: problemOf(outcome), values });
    case 'refused':
      return refusedPage(context, outcome);
    case 'already-sent':
      return alreadySentPage(context, 'creation', toList(context));
  }
}

/** The number that the form offers, or null for "never". Anything else is NaN, which the service refuses. */
function readLifeDays(text: string): number | null {
  if (text === 'never') return null;
  return /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
}

/** `retry`: the form was refused, and is shown again with the values that were sent. */
async function createPage(context: KeyContext, retry: { problem: Problem; values: Values } | null): Promise<View> {
  const access = await getKeyAccess(context.dashboard.db, context.actor, context.holderId);
  const refused = refusalOf(context, access, 'create');
  if (refused !== null) return refusedPage(context, refused);
  const problem = retry?.problem ?? null;
  const main = createForm(context, { access, problem, values: retry?.values ?? initialValues(access) });
  return page(context, { title: 'Create API Key', main, problem });
}

/** All permissions that the user can have, and the default life. */
function initialValues({ holder, policy }: KeyAccess): Values {
  const days = Math.min(DEFAULT_LIFE_DAYS, policy.maxKeyLifeDays);
  return { name: '', permissions: permissionsOf(holder.role), expiry: String(days) };
}

const LABELS = { name: 'Name', permissions: 'Permissions', expiry: 'Expiry' };
const LIVES_DAYS = [7, 30, 90, 180, 365, 730];

type FormProps = { readonly access: KeyAccess; readonly problem: Problem | null; readonly values: Values };

function createForm(context: KeyContext, { access, problem, values }: FormProps): Html {
  const { holder, policy } = access;
  const { isOwn, listUrl, formToken, now, dashboard } = context;
  const { environment } = dashboard;
  const fields = problem?.fields ?? {};
  return html`${head({
    title: 'Create API Key',
    up: { name: 'API keys', href: listUrl },
    lead: isOwn
      ? 'The key acts in your name.'
      : `The key acts for ${holder.name}, ${holder.email}. It is shown to you, and you must pass it on.`,
  })}
${problemSummary(problem, LABELS)}
<div class="card narrow">${postForm(
    { action: listUrl, formToken },
    html`${hidden('form_id', newFormId(context))}
<p>${environmentBadge(environment)} The key begins with <code>charter_${environment}_</code> and works in this environment only.</p>
${field(
  {
    name: 'name',
    label: LABELS.name,
    hint: 'What the key is for, such as “Nightly import, production”.',
    errors: fields,
  },
  (attributes) =>
    html`<input ${attributes} type="text" value="${values.name}" maxlength="100" required autocomplete="off">`,
)}
<fieldset class="field" id="permissions" tabindex="-1"><legend>Permissions</legend>
${fieldError('permissions', LABELS.permissions, fields['permissions'] ?? [])}
${permissionsOf(holder.role).map((permission) => permissionBox(permission, values))}</fieldset>
${field(
  {
    name: 'expiry',
    label: LABELS.expiry,
    hint: 'After that, the key is refused. Create another one before then; rotating keeps this date.',
    errors: fields,
  },
  (attributes) =>
    html`<select ${attributes}>${lifeOptions(policy, now).map(
      ({ value, words }) =>
        html`<option value="${value}"${values.expiry === value && html` selected`}>${words}</option>`,
    )}</select>`,
)}
<div class="actions"><button class="button primary">Create API Key</button><a class="button plain" href="${listUrl}">Cancel</a></div>`,
  )}</div>`;
}

function permissionBox(permission: Permission, { permissions }: Values): Html {
  return html`<label class="choice"><input type="checkbox" name="permissions" value="${permission}"${permissions.includes(permission) && html` checked`}>
<span><code>${permission}</code><span class="hint">${PERMISSION_WORDS[permission]}</span></span></label>`;
}

function lifeOptions({ maxKeyLifeDays, allowsUnendingKeys }: KeyPolicy, now: Date) {
  const lives = [...new Set([...LIVES_DAYS.filter((days) => days < maxKeyLifeDays), maxKeyLifeDays])];
  const options = lives.map((days) => {
    const until = expiryOf(now, days);
    return {
      value: String(days),
      words: `${formatCount(days, 'day')}${until === null ? '' : `, until ${formatDay(until)}`}`,
    };
  });
  return allowsUnendingKeys ? [...options, { value: 'never', words: 'Never expires' }] : options;
}
