import {
  type KeyUsage,
  REQUEST_RESULTS,
  requestsOf,
  SHOWN_PERIODS,
  type UsePeriod,
} from '../../domain/keys/key-usage.ts';
import { type Html, html } from '../../html/html.ts';
import { chartFigure } from '../markup/chart.ts';

/** The server writes its counts once a minute. */
const FRESHNESS =
  'Requests of the last minute may be missing. Requests to a path or with a method that the API does not have are not counted.';

/** Returns charts of the requests with a key, or with all keys of an organization: one by days and one by hours. */
export function usageSection(usage: KeyUsage): Html {
  const isUnused = [...usage.day, ...usage.hour].every((use) => requestsOf(use) === 0);
  const figure = (period: UsePeriod) =>
    chartFigure({
      period,
      title: `Last ${SHOWN_PERIODS[period]} ${period}s`,
      counted: 'Requests',
      outcomes: REQUEST_RESULTS,
      uses: usage[period],
    });
  return html`<section class="card" aria-labelledby="use"><h2 id="use">Requests</h2>
${isUnused ? html`<p class="quiet">No requests in the last ${SHOWN_PERIODS.day} days. ${FRESHNESS}</p>` : html`<p class="quiet">A refused request got a 4xx response, such as 401, 403, 422 or 429; a failed one got a 5xx response. Days and hours are in UTC. ${FRESHNESS}</p><div class="use">${figure('day')}${figure('hour')}</div>`}</section>`;
}
