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
import { capitalize, chartFigure } from '../markup/chart.ts';
import { table } from '../markup/table.ts';

type Props = {
  readonly usage: KeyUsage;
  readonly byOperation: readonly OperationUse[];
  /** Returns the URL of the list of recorded requests that match the filter. */
  readonly listUrl: (filter: RequestFilter) => string;
  /** The URL of the CSV file with the requests by operation; omitted if there is no such file. */
  readonly fileUrl?: string;
  /** The maximum number of seconds until a request is counted. */
  readonly delaySeconds: number;
};

type RequestFilter = { readonly status?: 'refused' | 'failed'; readonly operation?: string };

/** Returns two charts of requests, by day and by hour, and a table of the requests by operation. */
export function usageSection({ usage, byOperation, listUrl, fileUrl, delaySeconds }: Props): Html {
  const freshness = `Requests of the last ${delaySeconds} seconds may be missing. A batch counts as its changes. Requests to a path or with a method that the API does not have are not counted.`;
  const isUnused = [...usage.day, ...usage.hour].every((use) => requestsOf(use) === 0);
  const figure = (period: UsePeriod) =>
    chartFigure({
      period,
      title: `Last ${SHOWN_PERIODS[period]} ${period}s`,
      counted: 'Requests',
      outcomes: REQUEST_RESULTS,
      uses: usage[period],
      links: { refused: listUrl({ status: 'refused' }), failed: listUrl({ status: 'failed' }) },
    });
  return html`<section class="card" aria-labelledby="use"><h2 id="use">Requests</h2>
${isUnused ? html`<p class="quiet">No requests in the last ${SHOWN_PERIODS.day} days. ${freshness}</p>` : html`<p class="quiet">A refused request got a 4xx response, such as 401, 403, 422 or 429; a failed one got a 5xx response. Days and hours are in UTC. ${freshness}</p><div class="use">${figure('day')}${figure('hour')}</div>`}
${byOperation.length > 0 && operationTable(byOperation, listUrl)}
<p class="actions"><a class="button" href="${listUrl({})}">See the requests</a>${fileUrl !== undefined && html`<a class="button" href="${fileUrl}">${icon('download')}Export the operations as CSV</a>`}</p></section>`;
}

function operationTable(uses: readonly OperationUse[], listUrl: Props['listUrl']): Html {
  const label = `Operations, last ${SHOWN_PERIODS.day} days`;
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
