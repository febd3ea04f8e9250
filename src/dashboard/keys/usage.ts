import {
  type KeyUsage,
  REQUEST_RESULTS,
  requestsOf,
  SHOWN_PERIODS,
  type UsePeriod,
} from '../../domain/keys/key-usage.ts';
import { formatNumber } from '../../domain/text.ts';
import { type Html, html } from '../../html/html.ts';
import { icon } from '../../html/icons.ts';
import type { OperationUse } from '../../store/keys/operation-uses.ts';
import { guideUrl } from '../http/addresses.ts';
import { capitalize, chartFigure, uncapitalize } from '../markup/chart.ts';
import { table } from '../markup/table.ts';

type Props = {
  /** The counted requests. No hours are shown if `hour` is empty. */
  readonly usage: KeyUsage;
  /** The title of the days, and whether the last of these days has ended. Default: the last 30 days. */
  readonly days?: { readonly title: string; readonly isPast: boolean };
  readonly byOperation: readonly OperationUse[];
  /** Returns the URL of the list of recorded requests that match the filter. */
  readonly listUrl: (filter: RequestFilter) => string;
  /** The files with the numbers, such as "Export as CSV". */
  readonly files?: readonly { readonly words: string; readonly url: string }[];
  /** The maximum number of seconds until a request is counted. */
  readonly delaySeconds: number;
};

type RequestFilter = { readonly status?: 'refused' | 'failed'; readonly operation?: string };

const ALL_DAYS = { title: `Last ${SHOWN_PERIODS.day} days`, isPast: false };

/** Returns two charts of requests, by day and by hour, and a table of the requests by operation. */
export function usageSection({ usage, days = ALL_DAYS, byOperation, listUrl, files = [], delaySeconds }: Props): Html {
  const freshness = `Requests of the last ${delaySeconds} seconds may be missing. A batch counts as its changes. Requests to a path or with a method that the API does not have are not counted.`;
  const isUnused = [...usage.day, ...usage.hour].every((use) => requestsOf(use) === 0);
  const figure = (period: UsePeriod, about: { readonly title: string; readonly isPast?: boolean }) =>
    chartFigure({
      ...about,
      period,
      counted: 'Requests',
      outcomes: REQUEST_RESULTS,
      uses: usage[period],
      links: { refused: listUrl({ status: 'refused' }), failed: listUrl({ status: 'failed' }) },
    });
  return html`<section class="card" aria-labelledby="use"><h2 id="use">Requests</h2>
${isUnused ? html`<p class="quiet">No requests${usage.hour.length > 0 ? ` in the last ${SHOWN_PERIODS.day} days` : ' match the filter'}. ${freshness}</p>` : html`<p class="quiet">A refused request got a 4xx response, such as 401, 403, 422 or 429; a failed one got a 5xx response. Days and hours are in UTC. ${freshness}</p><div class="use">${figure('day', days)}${usage.hour.length > 0 && figure('hour', { title: `Last ${SHOWN_PERIODS.hour} hours` })}</div>`}
${byOperation.length > 0 && operationTable(byOperation, { days, listUrl })}
<p class="actions"><a class="button" href="${listUrl({})}">See the requests</a>${files.map(({ words, url }) => html`<a class="button" href="${url}">${icon('download')}${words}</a>`)}</p></section>`;
}

function operationTable(
  uses: readonly OperationUse[],
  { days, listUrl }: Pick<Props, 'listUrl'> & { readonly days: typeof ALL_DAYS },
): Html {
  const label = `Operations, ${uncapitalize(days.title)}`;
  const count = ({ operation, ...counts }: OperationUse, status: 'refused' | 'failed') =>
    counts[status] === 0 ? 0 : html`<a href="${listUrl({ status, operation })}">${formatNumber(counts[status])}</a>`;
  return html`<h3>${label}</h3>
${table({
  name: 'uses',
  label,
  columns: ['Operation', ...REQUEST_RESULTS.map(capitalize)],
  rows: uses.map((use) => ({
    cells: [
      html`<a class="breakable" href="${guideUrl(`reference/${use.operation}`)}">${use.operation}</a>`,
      formatNumber(use.successful),
      count(use, 'refused'),
      count(use, 'failed'),
    ],
  })),
})}`;
}
