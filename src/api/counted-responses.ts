import type { IncomingMessage } from 'node:http';
import type { Outcome } from '../domain/key-usage.ts';
import type { UseRecorder } from '../traffic/last-used.ts';
import type { Send } from './response.ts';

const USE = Symbol('use of the key');

/** On the request, because errors are sent elsewhere than successes. */
type CountedRequest = IncomingMessage & { [USE]?: UseRecorder | undefined };

/** The response to the request counts as one to the key, whether or not the key is accepted. */
export function recordResponseIn(req: CountedRequest, use: UseRecorder): void {
  req[USE] = use;
}

/** For a request whose client gave up: its response is no failure of the server. */
export function leaveUncounted(req: CountedRequest): void {
  req[USE] = undefined;
}

/** Counts each response to a request with a known key. */
export function countResponses(send: Send): Send {
  return (exchange, response) => {
    send(exchange, response);
    const { [USE]: use }: CountedRequest = exchange.req;
    use?.responded(outcomeOf(response.status));
  };
}

function outcomeOf(status: number): Outcome {
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'successful';
}
