import { MAX_ACTIVE_KEYS } from '../../domain/keys/api-key.ts';
import { MAX_CHARACTERS } from '../../domain/name.ts';
import { permissionsOf, READ_PERMISSIONS } from '../../domain/people/role.ts';
import { DAY_MS } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';
import { getKeyAccess, type KeyAccess } from '../../service/authority/keys.ts';
import { issueKey } from '../../service/keys/issue-key.ts';
import { countActiveKeys, getKey, type KeyDetails } from '../../service/keys/list-keys.ts';
import { boxes, formId, parseDay, select, text, withParser } from '../forms/fields.ts';
import { emptyOf, type Filled, type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import { alreadySentPage } from '../forms/one-time-form.ts';
import { newKeyUrl } from '../http/addresses.ts';
import { problemOf } from '../http/problem.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { actionForm, beside, emailText, environmentBadge, facts, head } from '../markup/parts.ts';
import { permissionMeaning } from '../markup/words.ts';
import { holderFact } from './cells.ts';
import { refusalOf, refusedPage } from './confirmation.ts';
import { type KeyContext, requireHolderKind, toList } from './context.ts';
import { addressesField, defaultLife, LIFE_LABEL, lifeOptions, limitField, ON_A_DAY, parseLifeDays } from './fields.ts';
import { issuedPage } from './issued.ts';

type FormProps = { readonly context: KeyContext; readonly access: KeyAccess };

export const CREATE_FORM = {
  formId: formId(),
  name: text({
    label: 'Name',
    hint: 'What the key is for, such as “Nightly import, production”.',
    attributes: html`maxlength="100" required autocomplete="off"`,
    hasFocus: true,
  }),
  permissions: boxes({
    label: 'Permissions',
    options: ({ access }: FormProps) =>
      permissionsOf(access.holder.role).map((permission) => ({
        value: permission,
        words: html`<code>${permission}</code>`,
        hint: permissionMeaning(permission),
      })),
  }),
  expiry: select({
    label: LIFE_LABEL,
    hint: 'After that, the key is refused. Rotate it before then: that can renew its expiry.',
    options: ({ access, context }: FormProps) => lifeOptions(access.policy, context.now, [ON_A_DAY]),
  }),
  /** A day such as "2026-01-31". It is used only if ON_A_DAY is selected as the expiry. */
  expiryDate: withParser(
    text({
      label: 'Last day',
      hint: 'The key works until the end of this day in UTC.',
      type: 'date',
      attributes: ({ context }: FormProps) => html`class="short" min="${context.now.toISOString().slice(0, 10)}"`,
      isChosen: true,
    }),
    (day) => parseLastMoment(day.trim()),
  ),
  addresses: addressesField,
  requestsPerSecond: limitField,
};

type Filling = Filled<typeof CREATE_FORM>;

export async function showCreate(context: KeyContext): Promise<View> {
  return createPage(context, null);
}

export async function create(context: KeyContext, { values, typed }: Form<typeof CREATE_FORM>): Promise<View> {
  const { dashboard, actor, holderId } = context;
  const { environment, cell, requestLimits } = dashboard;
  const { formId, name, permissions, expiry, expiryDate, addresses, requestsPerSecond } = values;
  const outcome = await issueKey(dashboard.db, actor, {
    userId: holderId,
    name,
    permissions,
    lifeDays: parseLifeDays(expiry),
    expiresAt: expiry === ON_A_DAY.value ? expiryDate : undefined,
    environment,
    cell,
    restrictions: { addresses, requestsPerSecond, requestLimits },
    formId,
  });
  switch (outcome.kind) {
    case 'issued':
      return issuedPage(context, outcome, { replacedPrefix: null });
    case 'invalid':
    case 'name-taken':
    case 'conflict':
      return createPage(context, { problem: problemOf(outcome), typed });
    case 'refused':
      return refusedPage(context, outcome);
    case 'already-sent':
      return alreadySentPage(context, 'creation', toList(context));
  }
}

/** Returns the last millisecond of a day in UTC. If the text is not a day, returns an invalid Date, which the service refuses. */
function parseLastMoment(text: string): Date {
  return new Date((parseDay(text)?.getTime() ?? Number.NaN) + DAY_MS - 1);
}

/** Returns the page with the form. `refused` is the refused form; `null` if the form is shown for the first time. */
async function createPage(context: KeyContext, refused: Filling | null): Promise<View> {
  const { dashboard, actor, holderId: userId, isOwn, listUrl, now, query } = context;
  const access = await getKeyAccess(dashboard.db, actor, userId);
  requireHolderKind(context, access.holder);
  const refusal = refusalOf(context, access, 'create');
  if (refusal !== null) return refusedPage(context, refusal);
  const activeKeys = await countActiveKeys(dashboard.db, actor, { access, now });
  const like = query.get('like');
  const model =
    refused !== null || like === null ? null : (await getKey(dashboard.db, actor, { userId, keyId: like, now })).key;
  const filled = refused ?? {
    typed: model === null ? initialValues(access) : valuesLike(model, access),
    problem: null,
  };
  const { holder } = access;
  const main = html`${head({
    title: 'Create API Key',
    up: { name: 'API keys', href: listUrl },
    lead: isOwn
      ? 'The key acts in your name.'
      : holder.kind === 'integration'
        ? `The key acts for the integration ${holder.name}. It is shown to you, once.`
        : html`The key acts for ${holder.name}, ${emailText(holder.email ?? '')}. It is shown to you, and you must pass it on.`,
  })}
${problemSummary(filled.problem, CREATE_FORM)}
${activeKeys >= MAX_ACTIVE_KEYS && fullNotice(activeKeys, listUrl)}
${beside({ title: 'The new key', about: aboutKey(context, access, activeKeys), content: createForm({ context, access }, filled) })}`;
  return page(context, { title: 'Create API Key', main, problem: filled.problem, formUrl: newKeyUrl(listUrl) });
}

/** Returns the initial values of the form: read permissions only, and the default expiry. */
function initialValues({ policy }: KeyAccess): Filling['typed'] {
  return { ...emptyOf(CREATE_FORM), permissions: READ_PERMISSIONS, expiry: defaultLife(policy) };
}

/**
 * Returns the initial values for a second key with the settings of this key. With a second key, a program can change keys without
 * an interruption.
 */
function valuesLike(key: KeyDetails, access: KeyAccess): Filling['typed'] {
  return {
    ...initialValues(access),
    name: [...key.name].slice(0, MAX_CHARACTERS.key - SECOND.length).join('') + SECOND,
    permissions: key.permissions,
    addresses: key.addresses.join('\n'),
    requestsPerSecond: key.requestsPerSecond === null ? '' : String(key.requestsPerSecond),
  };
}

const SECOND = ' (2)';

function aboutKey(context: KeyContext, access: KeyAccess, activeKeys: number): Html {
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

function createForm(props: FormProps, filled: Filling): Html {
  const { context, access } = props;
  const { listUrl } = context;
  const { expiry, expiryDate, addresses, requestsPerSecond, ...fields } = fieldsOf(CREATE_FORM, filled, props);
  const { typed, problem } = filled;
  const isRefused = problem?.fields['addresses'] !== undefined || problem?.fields['requests_per_second'] !== undefined;
  const isRestricted = typed.addresses !== '' || typed.requestsPerSecond !== '';
  const isOpen = isRefused || access.policy.requiresAddresses || isRestricted;
  return actionForm(context, {
    action: listUrl,
    fields: html`${Object.values(fields)}
<div class="field-row">${expiry}${expiryDate}</div>
<details class="fold"${isOpen && html` open`}><summary>Restrict from where, and how much</summary>
${addresses}
${requestsPerSecond}</details>`,
    button: 'Create API Key',
    cancel: listUrl,
  });
}

function activeWords(activeKeys: number): string {
  return `${activeKeys} of ${MAX_ACTIVE_KEYS} active`;
}

/**
 * Returns a warning that the user has the maximum number of keys, so that the user does not fill in a form that would be refused.
 */
function fullNotice(activeKeys: number, listUrl: string): Html {
  return html`<div class="notice warn"><p><strong>${activeWords(activeKeys)}: no more can be created.</strong> <a href="${listUrl}">Revoke an API key</a> that is not needed any more first.</p></div>`;
}
