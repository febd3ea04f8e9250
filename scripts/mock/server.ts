import type { Environment } from '../../src/domain/api-key.ts';
import { listen } from '../../src/server.ts';
import type { Assets } from './assets.ts';
import { warnOfBrowsers } from './cors.ts';
import { createMockListener, type MockListener } from './listener.ts';
import { mockKey } from './mock-api.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from './options.ts';
import { Overrides } from './overrides.ts';
import { requestLine } from './printable.ts';
import { type MockLimits, MockRateLimits } from './rate-limits.ts';
import { RequestLog } from './request-log.ts';

export type MockOptions = {
  /** 4010 by default; 0 takes any free port. */
  readonly port?: number;
  readonly host?: string;
  /** The environment whose keys are accepted; live by default. */
  readonly environment?: Environment;
  /** Generates data in place of the contract's examples; the same text generates the same data. */
  readonly dynamicSeed?: string | undefined;
  /** Keeps what requests create, change and delete, in memory. */
  readonly isStateful?: boolean | undefined;
  /** With `isStateful`, the data to begin with: items by the name of their list. The contract's examples by default. */
  readonly seed?: unknown;
  /** Requests per second; those of a server by default. */
  readonly limits?: MockLimits | undefined;
  /** The clock of the limits: milliseconds, which never go back. */
  readonly clock?: (() => number) | undefined;
  /** The time that new and changed items get. */
  readonly now?: () => Date;
  /** Called with a line for every request, warning and fault. */
  readonly print?: (line: string) => void;
};

export type Mock = {
  readonly url: string;
  /** An API key that the mock accepts, as it accepts every well-formed one. */
  readonly key: string;
  readonly overrides: Overrides;
  readonly log: RequestLog;
  readonly control: MockListener['control'];
  /** Serves another document from now on. Rejects where it cannot be served. */
  serve(contract: Pick<Assets, 'document' | 'yaml'>): Promise<void>;
  /** Ends at once, without waiting for any client. */
  close(): Promise<void>;
};

/** Responds as the server would, from the contract's examples and without a database. Rejects where the port is in use. */
export async function openMock(
  assets: Assets,
  {
    port = DEFAULT_PORT,
    host = DEFAULT_HOST,
    environment = 'live',
    dynamicSeed,
    isStateful = false,
    seed,
    limits,
    clock,
    now = () => new Date(),
    print = () => {},
  }: MockOptions = {},
): Promise<Mock> {
  const onFault = (error: unknown) =>
    print(`The mock itself failed: ${error instanceof Error ? error.stack : String(error)}`);
  const overrides = new Overrides();
  const rateLimits = new MockRateLimits(limits, clock);
  const log = new RequestLog(now);
  const onBrowser = warnOfBrowsers(print);
  const listenerOf = (contract: Pick<Assets, 'document' | 'yaml'>) =>
    createMockListener(
      { ...assets, ...contract },
      {
        environment,
        dynamicSeed,
        isStateful,
        seed,
        overrides,
        rateLimits,
        log,
        now,
        onFault,
        onWarning: (warning) => print(`Warning: ${warning}`),
        onBrowser,
      },
    );
  let current = await listenerOf(assets);
  const listening = await listen(
    (req, res) => {
      const { method, url } = req;
      res.once('finish', () => print(requestLine({ method, url }, res.statusCode)));
      current.listener(req, res);
    },
    { host, port },
  );
  return {
    url: listening.url,
    key: mockKey(environment),
    overrides,
    log,
    get control() {
      return current.control;
    },
    async serve(contract) {
      current = await listenerOf(contract);
    },
    close: () => listening.abort(),
  };
}
