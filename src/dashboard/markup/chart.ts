import { formatDay, formatInstant, formatNumber } from '../../domain/format.ts';
import { type Outcome, type PeriodUse, requestsOf, totalOf, type UsePeriod } from '../../domain/key-usage.ts';
import { type Html, html } from '../../html/html.ts';
import { table } from './table.ts';

// Bars of hours or days, each split by outcome, with the same numbers as a table.

type Chart = {
  readonly period: UsePeriod;
  /** Such as "Last 30 days". */
  readonly title: string;
  /** What is counted, such as "Requests". */
  readonly counted: string;
  /** The outcomes that occur, from the bottom of a bar to its top. */
  readonly outcomes: readonly Outcome[];
  /** Oldest first; the last one is the current period. */
  readonly uses: readonly PeriodUse[];
};

const PERIODS: Readonly<Record<UsePeriod, { current: string; nameOf: (at: Date) => string }>> = {
  day: { current: 'Today', nameOf: formatDay },
  hour: { current: 'This hour', nameOf: formatInstant },
};

export function chartFigure(chart: Chart): Html {
  const { period, title, counted, outcomes, uses } = chart;
  const { current, nameOf } = PERIODS[period];
  const total = totalOf(uses);
  const first = uses[0];
  if (requestsOf(total) === 0 || first === undefined)
    return html`<div><h3>${title}</h3><p class="quiet">No ${counted.toLowerCase()}.</p></div>`;
  const most = Math.max(...uses.map(requestsOf));
  const label = `${title}: ${countWords(chart, total)}; at most ${formatNumber(most)} in one ${period}. The table below the chart has the numbers.`;
  return html`<figure>
<figcaption><h3>${title}</h3><p class="small">At most ${formatNumber(most)} in one ${period}</p>
<ul class="use-totals">${outcomes.map((outcome) => html`<li>${swatch(period, outcome)}<strong>${formatNumber(total[outcome])}</strong> ${outcome}</li>`)}</ul></figcaption>
${bars(chart, { most, label })}
<p class="use-axis" aria-hidden="true"><span>${nameOf(first.startsAt)}</span><span>${current}</span></p>
<details class="more"><summary>${title} as a table</summary>
<p class="quiet small">The latest first, without ${period}s that had no ${counted.toLowerCase()}.</p>
${table({
  name: 'uses',
  label: `${counted}, ${title.toLowerCase()}`,
  columns: [period === 'day' ? 'Day' : 'Hour', ...outcomes.map(capitalized)],
  rows: uses
    .filter((use) => requestsOf(use) > 0)
    .toReversed()
    .map((use) => ({
      cells: [nameOf(use.startsAt), ...outcomes.map((outcome) => formatNumber(use[outcome]))],
    })),
})}</details>
</figure>`;
}

/** "1,234 successful, 5 refused, 0 failed". */
function countWords({ outcomes }: Chart, counts: Readonly<Record<Outcome, number>>): string {
  return outcomes.map((outcome) => `${formatNumber(counts[outcome])} ${outcome}`).join(', ');
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const HEIGHT = 100;
/** Minimum width of a period with the gap to the next one, and of the whole chart. */
const [MIN_STEP, MIN_WIDTH] = [10, 280];
const GAP = 2;
/** Minimum height of a segment, so that one failure is visible beside thousands of successes. */
const MIN_HEIGHT = 2;

function bars(chart: Chart, { most, label }: { most: number; label: string }): Html {
  const { period, uses } = chart;
  const step = Math.max(MIN_STEP, MIN_WIDTH / uses.length);
  return html`<svg class="use-chart" role="img" aria-label="${label}" viewBox="0 0 ${uses.length * step} ${HEIGHT}" preserveAspectRatio="none">
<defs>${pattern(period, 'refused', html`<rect class="use-mark" width="4" height="2"/>`)}${pattern(period, 'failed', html`<rect class="use-mark" width="2" height="2"/><rect class="use-mark" x="2" y="2" width="2" height="2"/>`)}</defs>
${uses.map((use, i) => column(chart, use, { x: i * step, step, most }))}</svg>`;
}

type Place = { readonly x: number; readonly step: number; readonly most: number };

function column(chart: Chart, use: PeriodUse, { x, step, most }: Place): Html {
  const { period, outcomes } = chart;
  const scale = HEIGHT - MIN_HEIGHT * (outcomes.length - 1);
  let y = HEIGHT;
  const parts = outcomes
    .filter((outcome) => use[outcome] > 0)
    .map((outcome) => {
      const height = Math.max(MIN_HEIGHT, (use[outcome] / most) * scale);
      y -= height;
      return html`<rect class="use-${outcome}" ${fillOf(period, outcome)} x="${x + GAP / 2}" y="${y.toFixed(1)}" width="${step - GAP}" height="${height.toFixed(1)}"/>`;
    });
  // The whole column has the tooltip, because a bar may be small.
  return html`<g><title>${PERIODS[period].nameOf(use.startsAt)}: ${countWords(chart, use)}</title><rect class="use-column" x="${x}" width="${step}" height="${HEIGHT}"/>${parts}</g>`;
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
