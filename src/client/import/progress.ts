import process from 'node:process';
import { isTemporary, reasonOf } from '../sending.ts';
import type { Fetch } from '../settings.ts';

const WIDTH = 30;

/** A line that is written again and again, on a terminal only. */
export class Progress {
  readonly #isShown = process.stderr.isTTY;
  #state = '';

  show(words: string, share: number | undefined): void {
    const filled = Math.floor((share ?? 0) * WIDTH);
    const bar = `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.floor((share ?? 0) * 100)}%  `;
    this.#state = `${share === undefined ? '' : bar}${words}`;
    this.#write(this.#state);
  }

  /** Says why nothing happens, until the next state. */
  showWait(reason: string): void {
    this.#write(`${this.#state} ${reason}`.trimStart());
  }

  /** Removes the line, so that other output can follow. */
  clear(): void {
    this.#write('');
  }

  #write(line: string): void {
    if (this.#isShown) process.stderr.write(`\r${line}\u001B[K`);
  }
}

const TOO_MANY_REQUESTS = 429;

/** Sends requests, and tells the user why the client waits before it sends one again: once for each outage. */
export function createTellingFetch(
  progress: Progress,
  { stopping, advice }: { stopping: AbortSignal; advice: string },
): Fetch {
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
      tell(`The server does not answer (${reason}).${advice}`);
      throw error;
    }
  };
}

/** The advice if no response arrives because Node does not use the proxy; empty if there is none. It holds no value. */
export function proxyAdvice(url: string, env: Readonly<NodeJS.ProcessEnv>): string {
  const name = /^https:/i.test(url) ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const isGiven = Boolean(env[name] || env[name.toLowerCase()]);
  if (!isGiven || env['NODE_USE_ENV_PROXY'] === '1') return '';
  return ` ${name} is set, but Node uses it only with NODE_USE_ENV_PROXY=1, since Node 24: set it, too, if Charter is behind this proxy.`;
}
