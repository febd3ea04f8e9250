import { MAX_LIFE_DAYS } from '../../domain/keys/api-key.ts';
import { MAX_UNUSED_DAYS, MIN_UNUSED_DAYS, ONE_NETWORK_DAYS, UNUSED_GRACE_DAYS } from '../../domain/keys/key-notice.ts';
import { limitsOf } from '../../domain/keys/request-limits.ts';
import { formatCount, formatNumber } from '../../domain/text.ts';
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { countAllKeys } from '../../service/keys/organization-keys.ts';
import { changeNoticeSettings, changePolicy, getPolicy } from '../../service/organizations/policy.ts';
import type { OrganizationRecord } from '../../store/organizations/organizations.ts';
import { box, text, withParser } from '../forms/fields.ts';
import { type Filled, type Form, fieldsOf, problemSummary } from '../forms/form.ts';
import { NOTICE_SETTINGS_URL, ORGANIZATION_KEYS_URL, ORGANIZATION_URL, urlOf } from '../http/addresses.ts';
import { problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { noMailWords } from '../markup/key-notices.ts';
import { page } from '../markup/layout.ts';
import { organizationHead } from '../markup/organization-head.ts';
import { badge, doneNotice, facts, postForm } from '../markup/parts.ts';
import { instant } from '../markup/words.ts';
import { attentionWords } from './api-keys.ts';

const dayField = (about: { readonly label: string; readonly hint: string; readonly isRequired: boolean }) =>
  text({
    ...about,
    attributes: html`class="short" inputmode="numeric" maxlength="5"${about.isRequired && html` required`}`,
  });

export const POLICY_FORM = {
  membersMayCreateKeys: box({
    label: 'Members may create API keys',
    hint: 'Otherwise only managers and administrators may.',
  }),
  maxKeyLifeDays: withParser(
    dayField({ label: 'Longest life of a key', hint: `In days, 1 to ${MAX_LIFE_DAYS}.`, isRequired: true }),
    parseDays,
  ),
  allowsUnendingKeys: box({
    label: 'Allow keys without an expiry',
    hint: 'People who create or rotate a key can then choose “Never expires”.',
  }),
  requiresAddresses: box({
    label: 'Require allowed addresses for keys that may write',
    hint: ({ lackingAddresses }: { readonly lackingAddresses: number }) =>
      html`Each new or rotated key with a write permission then needs a list of the addresses from which it may be used. ${concernedWords(lackingAddresses)}`,
  }),
};

export const NOTICE_FORM = {
  endsUnusedAfterDays: withParser(
    dayField({
      label: 'End keys that are not used for',
      hint: `In days, ${MIN_UNUSED_DAYS} to ${MAX_UNUSED_DAYS}; empty: never. Charter then revokes a key that was not used for so long, or was never used since its creation. Its holder is told 30 days, 7 days and a day before. No key ends within ${UNUSED_GRACE_DAYS} days after this is switched on or shortened.`,
      isRequired: false,
    }),
    (days) => (days.trim() === '' ? null : parseDays(days)),
  ),
  tellsNewNetworks: box({
    label: 'Mail about new networks',
    hint: ({ context }: { readonly context: SignedInContext }) =>
      html`The holder of a key gets a mail when the key is used from a new network after ${ONE_NETWORK_DAYS} days of one other network. It counts from when this is switched on.${noMailWords(context)}`,
  }),
};

export async function showPolicy(context: SignedInContext): Promise<View> {
  return policyPage(context, {});
}

export async function savePolicy(context: SignedInContext, { values, typed }: Form<typeof POLICY_FORM>): Promise<View> {
  const outcome = await changePolicy(context.dashboard.db, context.actor, values);
  if (outcome.kind !== 'done') return policyPage(context, { policy: { problem: problemOf(outcome), typed } });
  return redirect(`${ORGANIZATION_URL}?done=saved`);
}

export async function saveNoticeSettings(
  context: SignedInContext,
  { values, typed }: Form<typeof NOTICE_FORM>,
): Promise<View> {
  const outcome = await changeNoticeSettings(context.dashboard.db, context.actor, values);
  if (outcome.kind !== 'done') return policyPage(context, { notices: { problem: problemOf(outcome), typed } });
  return redirect(`${ORGANIZATION_URL}?done=notices`);
}

/** Returns the number of days, or `NaN` if the text is not an integer of at most five digits. The service refuses `NaN`. */
function parseDays(text: string): number {
  const days = text.trim();
  return /^\d{1,5}$/.test(days) ? Number(days) : Number.NaN;
}

const DONE = new Map([
  ['saved', 'The policy is saved. It applies to keys that are created or rotated from now on.'],
  ['notices', 'The settings are saved. They apply to all keys of the organization.'],
]);

/** The forms of the page. Only the refused form is set, and the page shows it again. */
type Refused = {
  readonly policy?: Filled<typeof POLICY_FORM>;
  readonly notices?: Filled<typeof NOTICE_FORM>;
};

async function policyPage(context: SignedInContext, refused: Refused): Promise<View> {
  const { actor, dashboard, formToken, now, query } = context;
  const { name, suspendedAt, policy, limits, notices } = await getPolicy(dashboard.db, actor);
  const counts = await countAllKeys(dashboard.db, actor, now);
  const policyFields = fieldsOf(
    POLICY_FORM,
    refused.policy ?? { typed: { ...policy, maxKeyLifeDays: String(policy.maxKeyLifeDays) }, problem: null },
    counts,
  );
  const noticeFields = fieldsOf(
    NOTICE_FORM,
    refused.notices ?? {
      typed: { ...notices, endsUnusedAfterDays: String(notices.endsUnusedAfterDays ?? '') },
      problem: null,
    },
    { context },
  );
  const problem = refused.policy?.problem ?? refused.notices?.problem ?? null;
  const main = html`${organizationHead('policy', actor)}${doneNotice(DONE.get(query.get('done') ?? ''))}${problemSummary(problem, { ...POLICY_FORM, ...NOTICE_FORM })}
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
${postForm(
  { action: ORGANIZATION_URL, formToken },
  html`${Object.values(policyFields)}
<div class="actions"><button class="button primary">Save policy</button></div>`,
)}</section>
<section class="card" aria-labelledby="notices"><h2 id="notices">Unused keys and notices</h2>
<p class="quiet">It applies to all keys of the organization.</p>
${postForm(
  { action: NOTICE_SETTINGS_URL, formToken },
  html`${Object.values(noticeFields)}
<div class="actions"><button class="button primary">Save settings</button></div>`,
)}</section>`;
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

function concernedWords(lackingAddresses: number): HtmlValue {
  if (lackingAddresses === 0) return 'Every active key that may write has one.';
  const [has, goes] = lackingAddresses === 1 ? ['has', 'stays'] : ['have', 'stay'];
  return html`<a href="${urlOf(ORGANIZATION_KEYS_URL, { addresses: 'none' })}">${formatCount(lackingAddresses, 'active key')} that may write</a> ${has} none, and ${goes} valid until rotated.`;
}
