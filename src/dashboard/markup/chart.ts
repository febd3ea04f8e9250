import {
  type PeriodUse,
  type RequestResult,
  requestsOf,
  totalOf,
  type UsePeriod,
} from '../../domain/keys/key-usage.ts';
import { formatNumber } from '../../domain/text.ts';
import { formatDay, formatInstant, formatMonthDay } from '../../domain/time.ts';
import { type Html, html } from '../../html/html.ts';
import { table } from './table.ts';

// The content of a bar chart of hours or days, and of a table with the same numbers. Each bar is divided by the outcome of the
// requests.

type Chart = {
  readonly period: UsePeriod;
  /** The title, such as "Last 30 days". */
  readonly title: string;
  /** The name of what is counted, such as "Requests". */
  readonly counted: string;
  /** The outcomes to show, in their order from the bottom of a bar to its top. */
  readonly outcomes: readonly RequestResult[];
  /** The counts of the periods, oldest first. */
  readonly uses: readonly PeriodUse[];
  /** Whether the last period has ended. Otherwise, the last period is the current one. */
  readonly isPast?: boolean;
  /** The URLs of the lists of requests with an outcome. */
  readonly links?: Partial<Record<RequestResult, string>>;
};

type Period = {
  readonly nameOf: (at: Date) => string;
  /** Returns the label below a bar, or `null` for no label. `left` is the number of later bars. */
  readonly labelOf: (at: Date, left: number, chart: Chart) => string | null;
};

/** The maximum number of labels for which there is space below a chart. */
const MAX_LABELS = 7;

const PERIODS: Readonly<Record<UsePeriod, Period>> = {
  day: {
    nameOf: formatDay,
    labelOf: (at, left, { uses, isPast = false }) => {
      if (left === 0 && !isPast) return 'Today';
      return left % (uses.length > MAX_LABELS ? 7 : 1) === 0 ? formatMonthDay(at) : null;
    },
  },
  hour: {
    nameOf: formatInstant,
    labelOf: (at) => ({ 0: formatMonthDay(at), 12: '12:00' })[at.getUTCHours()] ?? null,
  },
};

export function chartFigure(chart: Chart): Html {
  const { period, title, counted, outcomes, uses, links = {} } = chart;
  const { nameOf } = PERIODS[period];
  const total = totalOf(uses);
  if (requestsOf(total) === 0)
    return html`<div><h3>${title}</h3><p class="quiet">No ${counted.toLowerCase()}.</p></div>`;
  const most = Math.max(...uses.map(requestsOf));
  const label = `${title}: ${countWords(chart, total)}; at most ${formatNumber(most)} in one ${period}. The table below the chart has the numbers.`;
  return html`<figure>
<figcaption><h3>${title}</h3><p class="small">At most ${formatNumber(most)} in one ${period}</p>
<ul class="use-totals">${outcomes.map((outcome) => html`<li>${swatch(period, outcome)}${linked(links[outcome], total[outcome], html`<strong>${formatNumber(total[outcome])}</strong> ${outcome}`)}</li>`)}</ul></figcaption>
${plot(chart, { top: scaleTop(most), label })}
<details class="more"><summary>${title} as a table</summary>
<p class="quiet small">The latest first, without ${period}s that had no ${counted.toLowerCase()}.</p>
${table({
  name: 'uses',
  label: `${counted}, ${uncapitalize(title)}`,
  columns: [period === 'day' ? 'Day' : 'Hour', ...outcomes.map(capitalize)],
  rows: uses
    .filter((use) => requestsOf(use) > 0)
    .toReversed()
    .map((use) => ({
      cells: [nameOf(use.startsAt), ...outcomes.map((outcome) => formatNumber(use[outcome]))],
    })),
})}</details>
</figure>`;
}

function linked(href: string | undefined, count: number, words: Html): Html {
  return href === undefined || count === 0 ? words : html`<a href="${href}">${words}</a>`;
}

/** Returns words such as "1,234 successful, 5 refused, 0 failed". */
function countWords({ outcomes }: Chart, counts: Readonly<Record<RequestResult, number>>): string {
  return outcomes.map((outcome) => `${formatNumber(counts[outcome])} ${outcome}`).join(', ');
}

export function uncapitalize(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const HEIGHT = 100;
/** The minimum distance between two bars and the minimum width of the chart, in units of the viewBox. */
const [MIN_STEP, MIN_WIDTH] = [10, 280];
const GAP = 2;
/** The minimum height of a segment, so that one failed request is visible beside thousands of successful ones. */
const MIN_HEIGHT = 2;

const STEPS = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];

/**
 * Returns the number at the top of the scale: a round, even number that is not less than `most`. The middle line is labelled with
 * half of it. `most` is at least 1.
 */
function scaleTop(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(most));
  return STEPS.map((step) => step * unit).find((top) => top >= most && top % 2 === 0) ?? 10 * unit;
}

/** Returns the bars and the axes. Screen readers read `label` instead. */
function plot(chart: Chart, { top, label }: { top: number; label: string }): Html {
  return html`<div class="use-plot"><p class="use-scale" aria-hidden="true">${[top, top / 2, 0].map((count) => html`<span>${formatNumber(count)}</span>`)}</p>
${bars(chart, { top, label })}
<svg class="use-axis" aria-hidden="true">${dates(chart)}</svg></div>`;
}

function dates(chart: Chart): Html[] {
  const { length } = chart.uses;
  return chart.uses.flatMap(({ startsAt }, i) => {
    const text = PERIODS[chart.period].labelOf(startsAt, length - 1 - i, chart);
    return text === null ? [] : [html`<text x="${((100 * (i + 0.5)) / length).toFixed(2)}%" y="1em">${text}</text>`];
  });
}

function bars(chart: Chart, { top, label }: { top: number; label: string }): Html {
  const { period, uses } = chart;
  const step = Math.max(MIN_STEP, MIN_WIDTH / uses.length);
  const width = uses.length * step;
  return html`<svg class="use-chart" role="img" aria-label="${label}" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none">
<defs>${pattern(period, 'refused', html`<rect class="use-mark" width="4" height="2"/>`)}${pattern(period, 'failed', html`<rect class="use-mark" width="2" height="2"/><rect class="use-mark" x="2" y="2" width="2" height="2"/>`)}</defs>
<path class="use-lines" d="M0 0H${width}M0 ${HEIGHT / 2}H${width}" vector-effect="non-scaling-stroke"/>
${uses.map((use, i) => column(chart, use, { x: i * step, step, top }))}</svg>`;
}

type Place = { readonly x: number; readonly step: number; readonly top: number };

function column(chart: Chart, use: PeriodUse, { x, step, top }: Place): Html {
  const { period, outcomes } = chart;
  let y = HEIGHT;
  const parts = outcomes
    .filter((outcome) => use[outcome] > 0)
    .map((outcome) => {
      const height = Math.max(MIN_HEIGHT, (use[outcome] / top) * HEIGHT);
      y -= height;
      return html`<rect class="use-${outcome}" ${fillOf(period, outcome)} x="${x + GAP / 2}" y="${y.toFixed(1)}" width="${step - GAP}" height="${height.toFixed(1)}"/>`;
    });
  // The tooltip belongs to the whole column, because a bar may be too small to point at.
  return html`<g><title>${PERIODS[period].nameOf(use.startsAt)}: ${countWords(chart, use)}</title><rect class="use-column" x="${x}" width="${step}" height="${HEIGHT}"/>${parts}</g>`;
}

function swatch(period: UsePeriod, outcome: RequestResult): Html {
  return html`<svg class="use-swatch" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><rect class="use-${outcome}" ${fillOf(period, outcome)} width="12" height="12"/></svg>`;
}

/**
 * Returns the pattern of an outcome. People who cannot see the difference between the colors distinguish the outcomes by the
 * patterns.
 */
function pattern(period: UsePeriod, outcome: RequestResult, marks: Html): Html {
  return html`<pattern id="${period}-${outcome}" class="use-${outcome}" width="4" height="4" patternUnits="userSpaceOnUse"><rect class="use-ground" width="4" height="4"/>${marks}</pattern>`;
}

/** Returns the fill as an attribute, because the style sheet cannot refer to a pattern of the page with url(). */
function fillOf(period: UsePeriod, outcome: RequestResult): Html | false {
  return outcome !== 'successful' && html`fill="url(#${period}-${outcome})"`;
}
