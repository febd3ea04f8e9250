import { MAX_LIFE_DAYS } from '../../domain/keys/api-key.ts';
import { MAX_UNUSED_DAYS, MIN_UNUSED_DAYS, ONE_NETWORK_DAYS, UNUSED_GRACE_DAYS } from '../../domain/keys/key-notice.ts';
import { limitsOf } from '../../domain/keys/request-limits.ts';
import { formatCount, formatNumber } from '../../domain/text.ts';
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { countAllKeys } from '../../service/keys/organization-keys.ts';
import { getPolicy, updateNoticeSettings, updatePolicy } from '../../service/organizations/policy.ts';
import type { OrganizationRecord } from '../../store/organizations/organizations.ts';
import { NOTICE_SETTINGS_URL, ORGANIZATION_KEYS_URL, ORGANIZATION_URL, urlOf } from '../addresses.ts';
import type { Form } from '../http/forms.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { noMailWords } from '../markup/key-notices.ts';
import { page } from '../markup/layout.ts';
import { badge, doneNotice, facts, field, postForm, problemSummary } from '../markup/parts.ts';
import { instant } from '../markup/words.ts';
import { attentionWords } from './api-keys.ts';
import { organizationHead } from './head.ts';

/** The values of the form's fields; the days as text. */
type Values = {
  readonly membersMayCreateKeys: boolean;
  readonly maxKeyLifeDays: string;
  readonly allowsUnendingKeys: boolean;
  readonly requiresAddresses: boolean;
};

type NoticeValues = { readonly endsUnusedAfterDays: string; readonly tellsNewNetworks: boolean };

const LABELS = {
  max_key_life_days: 'Longest life of a key',
  ends_unused_after_days: 'End keys that are not used for',
};

export async function showPolicy(context: SignedInContext): Promise<View> {
  return policyPage(context, null);
}

export async function savePolicy(
  context: SignedInContext,
  form: Form<'members_may_create_keys' | 'max_key_life_days' | 'allows_unending_keys' | 'requires_addresses'>,
): Promise<View> {
  const values = {
    membersMayCreateKeys: form.has('members_may_create_keys'),
    maxKeyLifeDays: form.text('max_key_life_days').trim(),
    allowsUnendingKeys: form.has('allows_unending_keys'),
    requiresAddresses: form.has('requires_addresses'),
  };
  const maxKeyLifeDays = wholeNumber(values.maxKeyLifeDays);
  const outcome = await updatePolicy(context.dashboard.db, context.actor, { ...values, maxKeyLifeDays });
  if (outcome.kind !== 'done') return policyPage(context, { problem: problemOf(outcome), values });
  return redirect(`${ORGANIZATION_URL}?done=saved`);
}

export async function saveNoticeSettings(
  context: SignedInContext,
  form: Form<'ends_unused_after_days' | 'tells_new_networks'>,
): Promise<View> {
  const notices = {
    endsUnusedAfterDays: form.text('ends_unused_after_days').trim(),
    tellsNewNetworks: form.has('tells_new_networks'),
  };
  const outcome = await updateNoticeSettings(context.dashboard.db, context.actor, {
    ...notices,
    endsUnusedAfterDays: notices.endsUnusedAfterDays === '' ? null : wholeNumber(notices.endsUnusedAfterDays),
  });
  if (outcome.kind !== 'done') return policyPage(context, { problem: problemOf(outcome), notices });
  return redirect(`${ORGANIZATION_URL}?done=notices`);
}

/** Not a number, for any other text. */
function wholeNumber(text: string): number {
  return /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
}

const DONE = new Map([
  ['saved', 'The policy is saved. It applies to keys that are created or rotated from now on.'],
  ['notices', 'The settings are saved. They apply to all keys of the organization.'],
]);

type Retry = { readonly problem: Problem; readonly values?: Values; readonly notices?: NoticeValues };

/** `retry`: a form was refused, and is shown again with the values that were sent. */
async function policyPage(context: SignedInContext, retry: Retry | null): Promise<View> {
  const { actor, dashboard, now, query } = context;
  const { name, suspendedAt, policy, limits, notices } = await getPolicy(dashboard.db, actor);
  const counts = await countAllKeys(dashboard.db, actor, now);
  const problem = retry?.problem ?? null;
  const values = retry?.values ?? { ...policy, maxKeyLifeDays: String(policy.maxKeyLifeDays) };
  const noticeValues = retry?.notices ?? {
    ...notices,
    endsUnusedAfterDays: String(notices.endsUnusedAfterDays ?? ''),
  };
  const main = html`${organizationHead('policy', actor)}${doneNotice(DONE.get(query.get('done') ?? ''))}${problemSummary(problem, LABELS)}
<section class="card" aria-labelledby="about"><h2 id="about">About</h2>
${facts([
  { name: 'Name', value: name },
  { name: 'Status', value: status(suspendedAt) },
  {
    name: 'API keys',
    value: html`<a href="${ORGANIZATION_KEYS_URL}">${formatNumber(counts.active)} active</a>${attentionWords(counts)}`,
  },
  { name: 'Rate limits', value: limitWords(limitsOf(limits, dashboard.requestLimits)) },
])}</section>
<section class="card" aria-labelledby="policy"><h2 id="policy">API key policy</h2>
<p class="quiet">It applies when a key is created or rotated. Until then, existing keys keep their expiry.</p>
${policyForm(context, { values, problem, lackingAddresses: counts.lackingAddresses })}</section>
<section class="card" aria-labelledby="notices"><h2 id="notices">Unused keys and notices</h2>
<p class="quiet">It applies to all keys of the organization.</p>
${noticeForm(context, noticeValues, problem)}</section>`;
  return page(context, { title: 'Organization', main, problem, formUrl: ORGANIZATION_URL });
}

function status(suspendedAt: OrganizationRecord['suspendedAt']): Html {
  return suspendedAt === null
    ? badge('good', 'Active')
    : html`${badge('danger', 'Suspended')} since ${instant(suspendedAt)}<span class="under">API keys are refused with 403. Contact support.</span>`;
}

function limitWords({ perKey, perOrganization }: { perKey: number; perOrganization: number }): Html {
  const words = (limit: number) =>
    limit === 0 ? 'No limit' : `${formatNumber(limit)} ${limit === 1 ? 'request' : 'requests'} per second`;
  if (perKey === 0 && perOrganization === 0) return html`No limit`;
  return html`${words(perKey)} for each API key<br>${words(perOrganization)} for all API keys together<span class="under">The API refuses further requests with 429. To change the limits, contact support.</span>`;
}

type FormProps = { readonly values: Values; readonly problem: Problem | null; readonly lackingAddresses: number };

function policyForm({ formToken }: SignedInContext, { values, problem, lackingAddresses }: FormProps): Html {
  return postForm(
    { action: ORGANIZATION_URL, formToken },
    html`${box('members_may_create_keys', values.membersMayCreateKeys, 'Members may create API keys', 'Otherwise only managers and administrators may.')}
${field(
  {
    name: 'max_key_life_days',
    label: LABELS.max_key_life_days,
    hint: `In days, 1 to ${MAX_LIFE_DAYS}.`,
    errors: problem?.fields,
  },
  (attributes) =>
    html`<input ${attributes} class="short" type="text" inputmode="numeric" value="${values.maxKeyLifeDays}" maxlength="5" required>`,
)}
${box('allows_unending_keys', values.allowsUnendingKeys, 'Allow keys without an expiry', 'People who create or rotate a key can then choose “Never expires”.')}
${box('requires_addresses', values.requiresAddresses, 'Require allowed addresses for keys that may write', html`Each new or rotated key with a write permission then needs a list of the addresses from which it may be used. ${concernedWords(lackingAddresses)}`)}
<div class="actions"><button class="button primary">Save policy</button></div>`,
  );
}

function noticeForm(context: SignedInContext, values: NoticeValues, problem: Problem | null): Html {
  const name = 'ends_unused_after_days';
  return postForm(
    { action: NOTICE_SETTINGS_URL, formToken: context.formToken },
    html`${field(
      {
        name,
        label: LABELS[name],
        hint: `In days, ${MIN_UNUSED_DAYS} to ${MAX_UNUSED_DAYS}; empty: never. Charter then revokes a key that was not used for so long, or was never used since its creation. Its holder is told 30 days, 7 days and a day before. No key ends within ${UNUSED_GRACE_DAYS} days after this is switched on or shortened.`,
        errors: problem?.fields,
      },
      (attributes) =>
        html`<input ${attributes} class="short" type="text" inputmode="numeric" value="${values.endsUnusedAfterDays}" maxlength="5">`,
    )}
${box('tells_new_networks', values.tellsNewNetworks, 'Mail about new networks', html`The holder of a key gets a mail when the key is used from a new network after ${ONE_NETWORK_DAYS} days of one other network. It counts from when this is switched on.${noMailWords(context)}`)}
<div class="actions"><button class="button primary">Save settings</button></div>`,
  );
}

function concernedWords(lackingAddresses: number): HtmlValue {
  if (lackingAddresses === 0) return 'Every active key that may write has one.';
  const [has, goes] = lackingAddresses === 1 ? ['has', 'stays'] : ['have', 'stay'];
  return html`<a href="${urlOf(ORGANIZATION_KEYS_URL, { addresses: 'none' })}">${formatCount(lackingAddresses, 'active key')} that may write</a> ${has} none, and ${goes} valid until rotated.`;
}

function box(name: string, isChecked: boolean, label: string, hint: HtmlValue): Html {
  return html`<label class="choice"><input type="checkbox" name="${name}" value="yes"${isChecked && html` checked`}>
<span>${label}<span class="hint">${hint}</span></span></label>`;
}
