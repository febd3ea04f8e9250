import type { Logger } from './logs.ts';

export type UnexpectedErrorOptions = {
  readonly logger: Logger;
  readonly shutdown: { request(reason: string): void };
};

const MESSAGE = `
Charter is stopping because of an unexpected error, after the requests in progress. The log line with level 60 (fatal)
describes it.
  Start Charter again (npm start), unless a supervisor does so. If it happens again, report that log line.
`;

/**
 * An error that nothing has caught leaves the process in an undefined state, as Node's documentation says, so it shuts down as
 * on SIGTERM and exits with status 1. A supervisor then starts a new process. Later errors change nothing.
 */
export function endOnUnexpectedError({ logger, shutdown }: UnexpectedErrorOptions): void {
  let isStopping = false;
  // Node reports an unhandled rejection here, too.
  process.on('uncaughtException', (error: unknown, origin) => {
    if (isStopping) return;
    isStopping = true;
    process.exitCode = 1;
    logger.fatal({ origin, error: describe(error) }, 'unexpected error, the process stops');
    process.stderr.write(MESSAGE);
    shutdown.request('an unexpected error');
  });
}

const API_KEY = /charter_(live|test)_[0-9A-Za-z]+/g;
const URL_PASSWORD = /:\/\/[^\s/]*@/g;
const AUTHORIZATION = /\b(Bearer|Basic)\s+\S+/gi;

/** Name, message and stack. Other members of an error, such as a statement and its parameters, can be private. */
function describe(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return text.replace(AUTHORIZATION, '$1 …').replace(API_KEY, 'charter_$1_…').replace(URL_PASSWORD, '://…@');
}
