import { describeError } from './describe-error.ts';
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
    logger.fatal({ origin, error: describeError(error) }, 'unexpected error, the process stops');
    process.stderr.write(MESSAGE);
    shutdown.request('an unexpected error');
  });
}
