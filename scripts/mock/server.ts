import { type Document, readDocument } from '../../src/contract/contract.ts';
import type { Environment } from '../../src/domain/api-key.ts';
import { listen } from '../../src/server.ts';
import { followEdits } from './contract-edits.ts';
import { warnOfBrowsers } from './cors.ts';
import { createMockListener } from './listener.ts';
import { mockKey } from './mock-api.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from './options.ts';
import { Overrides } from './overrides.ts';
import { requestLine } from './printable.ts';

export type MockOptions = {
  /** 4010 by default; 0 takes any free port. */
  readonly port?: number;
  readonly host?: string;
  /** The environment whose keys are accepted; live by default. */
  readonly environment?: Environment;
  /** Generates data in place of the contract's examples; the same seed generates the same data. */
  readonly seed?: string | undefined;
  /** Keeps what requests create, change and delete, in memory. */
  readonly isStateful?: boolean | undefined;
  /** The contract's main file, whose edits are followed. The published contract is served if it is omitted. */
  readonly mainFile?: string | undefined;
  /** The time that new and changed items get. */
  readonly now?: () => Date;
  /** Called with a line for every request, edit, warning and fault. */
  readonly print?: (line: string) => void;
};

export type Mock = {
  readonly url: string;
  /** An API key that the mock accepts, as it accepts every well-formed one. */
  readonly key: string;
  close(): Promise<void>;
};

/** Responds as the server would, from the contract's examples and without a database. Rejects where the port is in use. */
export async function startMock({
  port = DEFAULT_PORT,
  host = DEFAULT_HOST,
  environment = 'live',
  seed,
  isStateful = false,
  mainFile,
  now = () => new Date(),
  print = () => {},
}: MockOptions = {}): Promise<Mock> {
  const onFault = (error: unknown) =>
    print(`The mock itself failed: ${error instanceof Error ? error.stack : String(error)}`);
  const overrides = new Overrides();
  const onBrowser = warnOfBrowsers(print);
  const listenerOf = (document: Document) =>
    createMockListener(document, {
      environment,
      seed,
      isStateful,
      overrides,
      now,
      onFault,
      onWarning: (warning) => print(`Warning: ${warning}`),
      onBrowser,
    });
  let listener = await listenerOf(await readDocument());
  const listening = await listen(
    (req, res) => {
      const { method, url } = req;
      res.once('finish', () => print(requestLine({ method, url }, res.statusCode)));
      listener(req, res);
    },
    { host, port },
  );
  const serve = async (document: Document) => {
    listener = await listenerOf(document);
  };
  const endEdits = mainFile === undefined ? () => {} : await followEdits(mainFile, { serve, print });
  return {
    url: listening.url,
    key: mockKey(environment),
    close() {
      endEdits();
      return listening.stop();
    },
  };
}
