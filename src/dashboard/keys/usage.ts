import {
  type KeyUsage,
  REQUEST_RESULTS,
  requestsOf,
  SHOWN_PERIODS,
  type UsePeriod,
} from '../../domain/keys/key-usage.ts';
import { type Html, html } from '../../html/html.ts';
import { chartFigure } from '../markup/chart.ts';

type Props = {
  readonly usage: KeyUsage;
  /** Returns the URL of the list of recorded requests with this status; with any status if it is `null`. */
  readonly listUrl: (status: 'refused' | 'failed' | null) => string;
  /** The maximum number of seconds until a request is counted. */
  readonly delaySeconds: number;
};

/** Returns charts of the requests with a key, or with all keys of an organization: one by days and one by hours. */
export function usageSection({ usage, listUrl, delaySeconds }: Props): Html {
  const freshness = `Requests of the last ${delaySeconds} seconds may be missing. A batch counts as its changes. Requests to a path or with a method that the API does not have are not counted.`;
  const isUnused = [...usage.day, ...usage.hour].every((use) => requestsOf(use) === 0);
  const figure = (period: UsePeriod) =>
    chartFigure({
      period,
      title: `Last ${SHOWN_PERIODS[period]} ${period}s`,
      counted: 'Requests',
      outcomes: REQUEST_RESULTS,
      uses: usage[period],
      links: { refused: listUrl('refused'), failed: listUrl('failed') },
    });
  return html`<section class="card" aria-labelledby="use"><h2 id="use">Requests</h2>
${isUnused ? html`<p class="quiet">No requests in the last ${SHOWN_PERIODS.day} days. ${freshness}</p>` : html`<p class="quiet">A refused request got a 4xx response, such as 401, 403, 422 or 429; a failed one got a 5xx response. Days and hours are in UTC. ${freshness}</p><div class="use">${figure('day')}${figure('hour')}</div>`}
<p class="actions"><a class="button" href="${listUrl(null)}">See the requests</a></p></section>`;
}
