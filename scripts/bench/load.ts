import autocannon from 'autocannon';

const CONNECTIONS = 16;

/** What is asked of one server; each connection sends the requests in turn, over and over. */
export type Load = {
  readonly origin: string;
  readonly requests: readonly { readonly path: string; readonly headers: { readonly authorization: string } }[];
};

/** Requests per second, and how long they took. */
export type Sample = { readonly rate: number; readonly p50Ms: number; readonly p99Ms: number };

/** Keeps 16 connections busy for so long. Throws on any answer but 2xx: its speed would say nothing. */
export async function drive({ origin, requests }: Load, seconds: number): Promise<Sample> {
  const times: number[] = [];
  const startedAt = performance.now();
  let endedAt = startedAt;
  let clients = 0;
  const result = await autocannon({
    url: origin,
    connections: CONNECTIONS,
    duration: seconds,
    sampleInt: 100,
    setupClient(client) {
      client.setRequests(turned(requests, clients++));
      // Its own histogram counts in whole milliseconds, which is coarser than what is compared here.
      client.on('response', (_status, _bytes, milliseconds) => {
        times.push(milliseconds);
        endedAt = performance.now();
      });
    },
  });
  if (result.non2xx + result.errors + result.timeouts > 0) throw notAnswered(origin, result);
  times.sort((a, b) => a - b);
  return { rate: times.length / ((endedAt - startedAt) / 1000), p50Ms: at(times, 0.5), p99Ms: at(times, 0.99) };
}

/** The same in another order, so that the connections do not all ask for the same thing at the same moment. */
function turned<T>(list: readonly T[], connection: number): T[] {
  const start = Math.floor((connection * list.length) / CONNECTIONS) % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
}

function notAnswered(origin: string, { non2xx, errors, timeouts }: autocannon.Result): Error {
  return new Error(`${origin}: ${non2xx} answers that are not 2xx, ${errors} errors, ${timeouts} time-outs.`);
}
