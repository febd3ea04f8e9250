import { formatDay, formatInstant, formatNumber } from '../../domain/format.ts';
import {
  type KeyUsage,
  OUTCOMES,
  type Outcome,
  type OutcomeCounts,
  type PeriodUse,
  requestsOf,
  SHOWN_PERIODS,
  totalOf,
  type UsePeriod,
} from '../../domain/key-usage.ts';
import { type Html, html } from '../markup/html.ts';
import { table } from '../markup/table.ts';

const PERIODS: Readonly<Record<UsePeriod, { title: string; current: string; nameOf: (at: Date) => string }>> = {
  day: { title: `Last ${SHOWN_PERIODS.day} days`, current: 'Today', nameOf: formatDay },
  hour: { title: `Last ${SHOWN_PERIODS.hour} hours`, current: 'This hour', nameOf: formatInstant },
};

/** The server writes its counts every minute. */
const FRESHNESS =
  'Requests of the last minute may be missing. Requests to a path or with a method that the API does not have are not counted.';

/** The requests with a key, or with all keys of an organization: a chart of days and one of hours. */
export function useSection(usage: KeyUsage): Html {
  const isUnused = [...usage.day, ...usage.hour].every((use) => requestsOf(use) === 0);
  return html`<section class="card" aria-labelledby="use"><h2 id="use">Requests</h2>
${isUnused ? html`<p class="quiet">No requests in the last ${SHOWN_PERIODS.day} days. ${FRESHNESS}</p>` : html`<p class="quiet">A refused request got a 4xx response, such as 401, 403, 422 or 429; a failed one got a 5xx response. Days and hours are in UTC. ${FRESHNESS}</p><div class="use">${useFigure('day', usage.day)}${useFigure('hour', usage.hour)}</div>`}</section>`;
}

/** "1,234 successful, 5 refused, 0 failed". */
function countWords(counts: OutcomeCounts): string {
  return OUTCOMES.map((outcome) => `${formatNumber(counts[outcome])} ${outcome}`).join(', ');
}

function useFigure(period: UsePeriod, uses: readonly PeriodUse[]): Html {
  const { title, current, nameOf } = PERIODS[period];
  const total = totalOf(uses);
  const first = uses[0];
  if (requestsOf(total) === 0 || first === undefined)
    return html`<div><h3>${title}</h3><p class="quiet">No requests.</p></div>`;
  const most = Math.max(...uses.map(requestsOf));
  const label = `${title}: ${countWords(total)}; at most ${formatNumber(most)} in one ${period}. The table below the chart has the numbers.`;
  return html`<figure>
<figcaption><h3>${title}</h3><p class="small">At most ${formatNumber(most)} in one ${period}</p>
<ul class="use-totals">${OUTCOMES.map((outcome) => html`<li>${swatch(period, outcome)}<strong>${formatNumber(total[outcome])}</strong> ${outcome}</li>`)}</ul></figcaption>
${chart(period, uses, { most, label })}
<p class="use-axis" aria-hidden="true"><span>${nameOf(first.startsAt)}</span><span>${current}</span></p>
<details class="more"><summary>${title} as a table</summary>
<p class="quiet small">The latest first, without ${period}s that had no requests.</p>
${table({
  name: 'uses',
  label: `Requests, ${title.toLowerCase()}`,
  columns: [period === 'day' ? 'Day' : 'Hour', 'Successful', 'Refused', 'Failed'],
  rows: uses
    .filter((use) => requestsOf(use) > 0)
    .toReversed()
    .map((use) => ({
      cells: [nameOf(use.startsAt), ...OUTCOMES.map((outcome) => formatNumber(use[outcome]))],
    })),
})}</details>
</figure>`;
}

const HEIGHT = 100;
/** Each period is 10 wide, and its bar 8. */
const [STEP, WIDTH] = [10, 8];
/** Minimum height of a segment, so that one failure is visible beside thousands of successes. */
const MIN_HEIGHT = 2;
const SCALE = HEIGHT - MIN_HEIGHT * (OUTCOMES.length - 1);

function chart(period: UsePeriod, uses: readonly PeriodUse[], { most, label }: { most: number; label: string }): Html {
  return html`<svg class="use-chart" role="img" aria-label="${label}" viewBox="0 0 ${uses.length * STEP} ${HEIGHT}" preserveAspectRatio="none">
<defs>${pattern(period, 'refused', html`<rect class="use-mark" width="4" height="2"/>`)}${pattern(period, 'failed', html`<rect class="use-mark" width="2" height="2"/><rect class="use-mark" x="2" y="2" width="2" height="2"/>`)}</defs>
${uses.map((use, i) => column(period, use, { x: i * STEP, most }))}</svg>`;
}

function column(period: UsePeriod, use: PeriodUse, { x, most }: { x: number; most: number }): Html {
  let y = HEIGHT;
  const parts = OUTCOMES.filter((outcome) => use[outcome] > 0).map((outcome) => {
    const height = Math.max(MIN_HEIGHT, (use[outcome] / most) * SCALE);
    y -= height;
    return html`<rect class="use-${outcome}" ${fillOf(period, outcome)} x="${x + (STEP - WIDTH) / 2}" y="${y.toFixed(1)}" width="${WIDTH}" height="${height.toFixed(1)}"/>`;
  });
  // The whole column has the tooltip, because a bar may be small.
  return html`<g><title>${PERIODS[period].nameOf(use.startsAt)}: ${countWords(use)}</title><rect class="use-column" x="${x}" width="${STEP}" height="${HEIGHT}"/>${parts}</g>`;
}

function swatch(period: UsePeriod, outcome: Outcome): Html {
  return html`<svg class="use-swatch" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><rect class="use-${outcome}" ${fillOf(period, outcome)} width="12" height="12"/></svg>`;
}

/** The outcomes differ in their patterns too, because not everybody sees the difference of colors. */
function pattern(period: UsePeriod, outcome: Outcome, marks: Html): Html {
  return html`<pattern id="${period}-${outcome}" class="use-${outcome}" width="4" height="4" patternUnits="userSpaceOnUse"><rect class="use-ground" width="4" height="4"/>${marks}</pattern>`;
}

/** An attribute, because the style sheet's url() would refer to the style sheet. */
function fillOf(period: UsePeriod, outcome: Outcome): Html | false {
  return outcome !== 'successful' && html`fill="url(#${period}-${outcome})"`;
}
