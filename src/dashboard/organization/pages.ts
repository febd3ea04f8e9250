import { MAX_LIFE_DAYS } from '../../domain/api-key.ts';
import type { OrganizationRecord } from '../../service/organization.ts';
import type { Problem } from '../http/errors.ts';
import { type Html, html } from '../markup/html.ts';
import { badge, done as doneNotice, facts, field, head, postForm, problemSummary } from '../markup/parts.ts';
import { instant } from '../markup/words.ts';

/** As it stands in the form: the days as they were typed. */
export type TypedPolicy = {
  readonly membersMayCreateKeys: boolean;
  readonly maxKeyLifeDays: string;
  readonly allowsUnendingKeys: boolean;
};

const LABELS = { max_key_life_days: 'Longest life of a key' };

export function untyped({ policy }: OrganizationRecord): TypedPolicy {
  return { ...policy, maxKeyLifeDays: String(policy.maxKeyLifeDays) };
}

export function organizationHead(current: 'policy' | 'audit-log'): Html {
  return head({
    title: 'Organization',
    tabs: {
      label: 'Organization pages',
      tabs: [
        { name: 'Policy', href: '/organization', isCurrent: current === 'policy' },
        { name: 'Audit log', href: '/organization/audit-log', isCurrent: current === 'audit-log' },
      ],
    },
  });
}

export function organization({
  organization: { name, suspendedAt },
  typed,
  formToken,
  problem,
  done,
}: {
  organization: OrganizationRecord;
  typed: TypedPolicy;
  formToken: string;
  problem: Problem | null;
  done: string | undefined;
}): Html {
  return html`${organizationHead('policy')}${doneNotice(done)}${problemSummary(problem, LABELS)}
<section class="card" aria-labelledby="about"><h2 id="about">About</h2>
${facts([
  { name: 'Name', value: name },
  {
    name: 'State',
    value:
      suspendedAt === null
        ? badge('good', 'Active')
        : html`${badge('danger', 'Suspended')} since ${instant(suspendedAt)}<span class="under">API keys are refused with 403. Contact support.</span>`,
  },
])}</section>
<section class="card" aria-labelledby="policy"><h2 id="policy">API key policy</h2>
<p class="quiet">It holds for keys made from now on. Keys that exist keep their life.</p>
${postForm(
  { action: '/organization', formToken },
  html`${box('members_may_create_keys', typed.membersMayCreateKeys, 'Members may create API keys', 'Otherwise only managers and administrators make them.')}
${field(
  {
    name: 'max_key_life_days',
    label: LABELS.max_key_life_days,
    hint: `In days, 1 to ${MAX_LIFE_DAYS}.`,
    errors: problem?.fields,
  },
  (attributes) =>
    html`<input ${attributes} class="short" type="text" inputmode="numeric" value="${typed.maxKeyLifeDays}" maxlength="5" required>`,
)}
${box('allows_unending_keys', typed.allowsUnendingKeys, 'Keys may never expire', 'Whoever makes a key can then choose “Never expires”.')}
<div class="actions"><button class="button primary">Save policy</button></div>`,
)}</section>`;
}

function box(name: string, isChecked: boolean, label: string, hint: string): Html {
  return html`<label class="choice"><input type="checkbox" name="${name}" value="yes"${isChecked && html` checked`}>
<span>${label}<span class="hint">${hint}</span></span></label>`;
}
