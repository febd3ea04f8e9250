import type { FieldErrors } from '../../domain/errors.ts';
import { MAX_ACTIVE_KEYS } from '../../domain/keys/api-key.ts';
import { type Permission, permissionsOf, READ_PERMISSIONS } from '../../domain/people/role.ts';
import { DAY_MS } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';
import { getKeyAccess, type KeyAccess } from '../../service/authority/keys.ts';
import { issueKey } from '../../service/keys/issue-key.ts';
import { countActiveKeys } from '../../service/keys/list-keys.ts';
import { newKeyUrl } from '../addresses.ts';
import { type Form, readDay } from '../http/forms.ts';
import { alreadySentPage, newFormId, readFormId } from '../http/one-time-form.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import {
  beside,
  emailText,
  environmentBadge,
  facts,
  field,
  fieldError,
  head,
  hidden,
  postForm,
  problemSummary,
} from '../markup/parts.ts';
import { permissionMeaning } from '../markup/words.ts';
import { holderFact } from './cells.ts';
import { refusalOf, refusedPage } from './confirmation.ts';
import { type KeyContext, refuseElsewhere, toList } from './context.ts';
import {
  addressesField,
  addressesHint,
  defaultLife,
  LIFE_LABEL,
  lifeField,
  lifeOptions,
  limitField,
  ON_A_DAY,
  RESTRICTION_LABELS,
  type RestrictionValues,
  readLifeDays,
  readLimit,
} from './fields.ts';
import { issuedPage } from './issued.ts';

/** The values of the form's fields. */
type Values = {
  readonly name: string;
  readonly permissions: readonly string[];
  readonly expiry: string;
  /** A day such as "2026-01-31"; counts if `expiry` is ON_A_DAY. */
  readonly expiryDate: string;
} & RestrictionValues;

export async function showCreate(context: KeyContext): Promise<View> {
  return createPage(context, null);
}

export async function create(
  context: KeyContext,
  form: Form<'name' | 'expiry' | 'expiry_date' | 'addresses' | 'requests_per_second' | 'form_id' | 'permissions'>,
): Promise<View> {
  const values = {
    name: form.text('name'),
    permissions: form.all('permissions'),
    expiry: form.text('expiry'),
    expiryDate: form.text('expiry_date').trim(),
    addresses: form.text('addresses'),
    requestsPerSecond: form.text('requests_per_second'),
  };
  const formId = readFormId(context, form.text('form_id'));
  const { dashboard, actor, holderId } = context;
  const outcome = await issueKey(dashboard.db, actor, {
    userId: holderId,
    name: values.name,
    permissions: values.permissions,
    lifeDays: readLifeDays(values.expiry),
    expiresAt: values.expiry === ON_A_DAY.value ? readLastMoment(values.expiryDate) : undefined,
    environment: dashboard.environment,
    cell: dashboard.cell,
    restrictions: {
      addresses: values.addresses,
      requestsPerSecond: readLimit(values.requestsPerSecond),
      requestLimits: dashboard.requestLimits,
    },
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

/** The end of a day in UTC. Text that is not a day gives an invalid Date, which the service refuses. */
function readLastMoment(text: string): Date {
  return new Date((readDay(text)?.getTime() ?? Number.NaN) + DAY_MS - 1);
}

/** `retry`: the form was refused, and is shown again with the values that were sent. */
async function createPage(context: KeyContext, retry: { problem: Problem; values: Values } | null): Promise<View> {
  const { dashboard, actor, holderId: userId, now } = context;
  const access = await getKeyAccess(dashboard.db, actor, userId);
  refuseElsewhere(context, access.holder);
  const refused = refusalOf(context, access, 'create');
  if (refused !== null) return refusedPage(context, refused);
  const problem = retry?.problem ?? null;
  const activeKeys = await countActiveKeys(dashboard.db, actor, { access, now });
  const main = createForm(context, { access, activeKeys, problem, values: retry?.values ?? initialValues(access) });
  return page(context, { title: 'Create API Key', main, problem, formUrl: newKeyUrl(context.listUrl) });
}

/** The read permission and the default expiry only. Users select more where they need it. */
function initialValues({ policy }: KeyAccess): Values {
  const unrestricted = { addresses: '', requestsPerSecond: '' };
  return { name: '', permissions: [...READ_PERMISSIONS], expiry: defaultLife(policy), expiryDate: '', ...unrestricted };
}

const LABELS = {
  name: 'Name',
  permissions: 'Permissions',
  expiry: LIFE_LABEL,
  expiry_date: 'Last day',
  ...RESTRICTION_LABELS,
};

type FormProps = {
  readonly access: KeyAccess;
  readonly activeKeys: number;
  readonly problem: Problem | null;
  readonly values: Values;
};

function createForm(context: KeyContext, props: FormProps): Html {
  const { isOwn, listUrl } = context;
  const { access, activeKeys, problem } = props;
  const { holder } = access;
  return html`${head({
    title: 'Create API Key',
    up: { name: 'API keys', href: listUrl },
    lead: isOwn
      ? 'The key acts in your name.'
      : holder.kind === 'integration'
        ? `The key acts for the integration ${holder.name}. It is shown to you, once.`
        : html`The key acts for ${holder.name}, ${emailText(holder.email ?? '')}. It is shown to you, and you must pass it on.`,
  })}
${problemSummary(problem, LABELS)}
${activeKeys >= MAX_ACTIVE_KEYS && fullNotice(activeKeys, listUrl)}
${beside({ title: 'The new key', about: aboutKey(context, props), content: createFields(context, props) })}`;
}

function aboutKey(context: KeyContext, { access, activeKeys }: FormProps): Html {
  const { environment, cell } = context.dashboard;
  return facts([
    holderFact(context, access.holder),
    {
      name: 'Environment',
      value: html`${environmentBadge(environment)}<span class="under">The key begins with <code>charter_${environment}_${cell != null && `${cell}_`}</code> and works in this environment only.</span>`,
    },
    { name: 'API keys', value: html`<a href="${context.listUrl}">${activeWords(activeKeys)}</a>` },
  ]);
}

function createFields(context: KeyContext, { access, problem, values }: FormProps): Html {
  const { holder, policy } = access;
  const { listUrl, formToken, now } = context;
  const fields = problem?.fields ?? {};
  return postForm(
    { action: listUrl, formToken },
    html`${hidden('form_id', newFormId(context))}
${field(
  {
    name: 'name',
    label: LABELS.name,
    hint: 'What the key is for, such as “Nightly import, production”.',
    errors: fields,
  },
  (attributes) =>
    html`<input ${attributes} type="text" value="${values.name}" maxlength="100" required autocomplete="off"${problem === null && html` autofocus`}>`,
)}
<fieldset class="field" id="permissions" tabindex="-1"><legend>Permissions</legend>
${fieldError('permissions', LABELS.permissions, fields['permissions'] ?? [])}
${permissionsOf(holder.role).map((permission) => permissionBox(permission, values))}</fieldset>
<div class="field-row">${lifeField({
      hint: 'After that, the key is refused. Rotate it before then: that can renew its expiry.',
      errors: fields,
      options: lifeOptions(policy, now, [ON_A_DAY]),
      chosen: values.expiry,
    })}
${field(
  {
    name: 'expiry_date',
    label: LABELS.expiry_date,
    hint: 'The key works until the end of this day in UTC.',
    errors: fields,
    isChosen: true,
  },
  (attributes) =>
    html`<input ${attributes} class="short" type="date" value="${values.expiryDate}" min="${now.toISOString().slice(0, 10)}">`,
)}</div>
${restrictionFields(context, { access, fields, values })}
<div class="actions"><button class="button primary">Create API Key</button><a class="button plain" href="${listUrl}">Cancel</a></div>`,
  );
}

type RestrictionProps = Pick<FormProps, 'access' | 'values'> & { readonly fields: FieldErrors };

/** Folded, because most keys need none. */
function restrictionFields(
  context: KeyContext,
  { access: { policy, limits }, fields, values }: RestrictionProps,
): Html {
  const { addresses, requestsPerSecond } = values;
  const isRefused = Object.keys(RESTRICTION_LABELS).some((name) => fields[name] !== undefined);
  const isOpen = isRefused || policy.requiresAddresses || addresses !== '' || requestsPerSecond !== '';
  return html`<details class="fold"${isOpen && html` open`}><summary>Restrict from where, and how much</summary>
${addressesField({ hint: addressesHint(policy), value: addresses, errors: fields })}
${limitField(context, { limits, value: requestsPerSecond, errors: fields })}</details>`;
}

function activeWords(activeKeys: number): string {
  return `${activeKeys} of ${MAX_ACTIVE_KEYS} active`;
}

/** Warns before a user fills in a form that would be refused. */
function fullNotice(activeKeys: number, listUrl: string): Html {
  return html`<div class="notice warn"><p><strong>${activeWords(activeKeys)}: no more can be created.</strong> <a href="${listUrl}">Revoke an API key</a> that is not needed any more first.</p></div>`;
}

function permissionBox(permission: Permission, { permissions }: Values): Html {
  return html`<label class="choice"><input type="checkbox" name="permissions" value="${permission}"${permissions.includes(permission) && html` checked`}>
<span><code>${permission}</code><span class="hint">${permissionMeaning(permission)}</span></span></label>`;
}
