import process from 'node:process';
import { reasonOf } from '../attempt.ts';
import { isTemporary } from '../retrying.ts';
import type { Fetch } from '../settings.ts';
import type { Progress } from './progress.ts';

const TOO_MANY_REQUESTS = 429;

/** Sends requests, and tells the user why the client waits before it sends one again: once for each outage. */
export function tellingFetch(progress: Progress, stopping: AbortSignal): Fetch {
  let isOutage = false;
  const tell = (problem: string) => {
    if (isOutage || stopping.aborted) return;
    isOutage = true;
    progress.clear();
    process.stderr.write(`${problem} Trying again …\n`);
  };
  return async (request) => {
    try {
      const response = await fetch(request);
      if (response.status === TOO_MANY_REQUESTS) progress.showWait('waiting for the rate limit …');
      else if (isTemporary(response.status)) tell(`The server is not ready (${response.status}).`);
      else isOutage = false;
      return response;
    } catch (error) {
      // The client aborts a request that takes too long.
      const reason = request.signal.aborted ? 'no response in time' : reasonOf(Object(error).cause ?? error);
      tell(`The server does not answer (${reason}).`);
      throw error;
    }
  };
}
