import { formatCount } from '../../domain/format.ts';
import { findKeysIn } from '../../domain/keys/api-key.ts';
import type { Cell } from '../../domain/organizations/cells.ts';
import { html } from '../../html/html.ts';
import { forwardReport } from '../../service/cells/forward-report.ts';
import { MAX_REPORTED_KEYS, reportKeys } from '../../service/keys/report-keys.ts';
import { invalid } from '../../service/outcome.ts';
import { REPORT_KEY_URL } from '../addresses.ts';
import type { Form, MaxSize } from '../http/forms.ts';
import { form, type PublicPage } from '../http/page-routes.ts';
import { formProblem, type Problem, problemOf } from '../http/problem.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { field, postForm, problemSummary } from '../markup/parts.ts';

const LABEL = 'Text with the key';

async function showReport(context: RequestContext): Promise<View> {
  return reportPage(context, null);
}

async function submitReport(context: RequestContext, form: Form<'text'>): Promise<View> {
  const { dashboard, auditSource, now, inTurn } = context;
  const found = findKeysIn(form.text('text'));
  if (found.length === 0) {
    const message =
      'must contain a whole API key. It begins with charter_live_ or charter_test_, and ends with 46 letters and digits.';
    return reportPage(context, problemOf(invalid('text', message)));
  }
  const keys = found.slice(0, MAX_REPORTED_KEYS);
  const outcome = await inTurn(() => reportKeys(dashboard.db, { keys, auditSource, now }, dashboard));
  if (outcome.kind === 'rate-limited') return reportPage(context, problemOf(outcome));
  const unreached = await forwardKeys(context, keys);
  if (outcome.kind === 'moving')
    return reportPage(context, { ...formProblem(MOVING_NOTE), status: 503, retryAfterSeconds: MOVING_RETRY_SECONDS });
  return reportedPage(context, { reported: keys.length, left: found.length - keys.length, unreached });
}

/** Never repeats the text that was sent: it contains keys. */
function reportPage(context: RequestContext, problem: Problem | null): View {
  const main = html`<section class="card guest-card"><h1>Report a leaked API key</h1>
<p>Have you found an API key of Charter where it does not belong, such as in a repository, a log or a chat? Report it, and it is revoked at once. You need no account.</p>
${problemSummary(problem, { text: LABEL })}
${postForm(
  { action: REPORT_KEY_URL, formToken: context.formToken },
  html`${field(
    {
      name: 'text',
      label: LABEL,
      hint: `Paste the key, or the text that contains it, such as lines of a log. Charter finds up to ${MAX_REPORTED_KEYS} keys in it, and does not store the text.`,
      errors: problem?.fields,
    },
    (attributes) =>
      html`<textarea ${attributes} rows="6" autocomplete="off" autocapitalize="none" spellcheck="false" translate="no" required></textarea>`,
  )}
<div class="actions"><button class="button primary wide">Report and revoke</button></div>`,
)}
<p class="aside">A revoked key never works again. Programs that use it stop working.</p></section>`;
  return page(context, { title: 'Report a leaked API key', main, problem });
}

type Reported = {
  readonly reported: number;
  readonly left: number;
  /** The cells that did not get the report. */
  readonly unreached: readonly Cell[];
};

/** The same for every key, so that nobody can learn from it which keys exist. */
function reportedPage(context: RequestContext, { reported, left, unreached }: Reported): View {
  const main = html`<section class="card guest-card"><h1>Thank you</h1>
<p>You reported ${formatCount(reported, 'API key')}. If ${reported === 1 ? 'it was' : 'any of them was'} active, it is revoked now, and its owner can see why.</p>
${
  unreached.length > 0 &&
  html`<div class="notice danger" role="alert"><p><strong>The report did not reach every part of Charter.</strong> Report ${reported === 1 ? 'the key' : 'the keys'} there, too:</p>
<ul>${unreached.map(({ title, url }) => html`<li><a href="${url}${REPORT_KEY_URL}">${title}</a></li>`)}</ul></div>`
}
${left > 0 && html`<p><strong>Your text contains ${formatCount(left, 'more key')}.</strong> Only the first ${MAX_REPORTED_KEYS} were reported. Report the others separately.</p>`}
<p class="aside"><a href="${REPORT_KEY_URL}">Report another key</a></p></section>`;
  return page(context, { title: 'Thank you', main });
}

/** 256 KiB: long lines of a log, or thousands of keys. */
export const MAX_REPORT: MaxSize = { bytes: 256 * 1024, error: 'report-too-large' };

/** For a report with a key of a moving organization. The rest of the report has been carried out. */
export const MOVING_NOTE =
  'Charter is moving some of the data at the moment, so not every key may be revoked yet. Send the report again in a few minutes.';

export const MOVING_RETRY_SECONDS = 5;

/** Sends the keys to the other cells, if they were reported at the address that cells share. Returns the cells that failed. */
export async function forwardKeys(context: RequestContext, keys: readonly string[]): Promise<Cell[]> {
  return forward(context, { body: JSON.stringify({ keys }) });
}

/** The same for a message as it was sent, whose headers have the signature. */
export async function forward(
  { commonAddress, isForwarded, auditSource }: RequestContext,
  { body, headers = {} }: { readonly body: string | Buffer; readonly headers?: Readonly<Record<string, string>> },
): Promise<Cell[]> {
  return commonAddress === null || isForwarded
    ? []
    : forwardReport(commonAddress, { body, headers, ip: auditSource.ip });
}

/** For anybody who has found a key. */
export const reportPages: readonly PublicPage[] = [
  { path: REPORT_KEY_URL, get: showReport, post: form(['text'], submitReport, { size: MAX_REPORT, takesTurns: true }) },
];
