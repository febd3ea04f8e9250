import process from 'node:process';
import { isTemporary, reasonOf } from '../sending.ts';
import type { Fetch } from '../settings.ts';

const WIDTH = 30;

/**
 * A line on the terminal that shows the progress. Each update overwrites the line. If the output is not a terminal, nothing is
 * written.
 */
export class Progress {
  readonly #isShown = process.stderr.isTTY;
  #state = '';

  show(words: string, share: number | undefined): void {
    const filled = Math.floor((share ?? 0) * WIDTH);
    const bar = `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.floor((share ?? 0) * 100)}%  `;
    this.#state = `${share === undefined ? '' : bar}${words}`;
    this.#write(this.#state);
  }

  /** Shows why the import waits. The next progress replaces the reason. */
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

/** Returns a `fetch` that tells the user why the client waits before a retry. It does so once for each outage. */
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
      // If the signal is aborted, the client has given up waiting for the response.
      const reason = request.signal.aborted ? 'no response in time' : reasonOf(Object(error).cause ?? error);
      tell(`The server does not answer (${reason}).${advice}`);
      throw error;
    }
  };
}

/**
 * Returns advice if Node ignores a proxy that is set in the environment, otherwise an empty string. The advice does not contain
 * the value of a variable.
 */
export function proxyAdvice(url: string, env: Readonly<NodeJS.ProcessEnv>): string {
  const name = /^https:/i.test(url) ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const isGiven = Boolean(env[name] || env[name.toLowerCase()]);
  if (!isGiven || env['NODE_USE_ENV_PROXY'] === '1') return '';
  return ` ${name} is set, but Node uses it only with NODE_USE_ENV_PROXY=1, since Node 24: set it, too, if Charter is behind this proxy.`;
}
