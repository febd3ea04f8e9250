import type { RequestListener } from 'node:http';
import { type Document, readDocument } from '../../src/api/contract.ts';
import type { Environment } from '../../src/domain/api-key.ts';
import { listen } from '../../src/server.ts';
import { mockKey } from './accepted-keys.ts';
import { type Edit, watchEdits } from './contract-edits.ts';
import { createListener } from './listener.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from './options.ts';
import { lineOf } from './printable.ts';
import { createMockService, type MockService } from './service.ts';

export type MockOptions = {
  /** 4010 by default; 0 takes any free port. */
  readonly port?: number;
  readonly host?: string;
  /** Which keys are taken. */
  readonly environment?: Environment;
  /** Generates data in place of the contract's examples; the same seed generates the same data. */
  readonly seed?: string | undefined;
  /** The contract's main file, to follow its edits; undefined: what is published is served throughout. */
  readonly watched?: string | undefined;
  /** Told of every request, edit and fault, a line each. */
  readonly print?: (line: string) => void;
};

export type Mock = {
  readonly url: string;
  /** A key that the mock takes, as it takes every well-formed one. */
  readonly key: string;
  close(): Promise<void>;
};

const TAKEN = 'The edited contract is served.';
const KEPT = 'The contract from before the edit is served on.';

/** Answers as the server would, of the contract's examples, without a database. Rejects where the port is taken. */
export async function startMock({
  port = DEFAULT_PORT,
  host = DEFAULT_HOST,
  environment = 'live',
  seed,
  watched,
  print = () => {},
}: MockOptions = {}): Promise<Mock> {
  const create = (document: Document) => createMockService(document, { environment, seed });
  let service: MockService = await create(await readDocument());
  const listener = createListener({
    service: () => service,
    isDynamic: seed !== undefined,
    onFault: (error) => print(`the mock itself failed: ${error instanceof Error ? error.stack : error}`),
  });
  const listening = await listen(printing(listener, print), { host, port });
  const follow = async (edit: Edit): Promise<void> => {
    const made = 'problems' in edit ? edit : await attempt(() => create(edit.document));
    if (!('problems' in made)) service = made;
    const lines = 'problems' in made ? [...made.problems, KEPT] : [TAKEN];
    for (const line of lines) print(line);
  };
  const endWatch = watched === undefined ? () => {} : await watchEdits(watched, follow);
  return {
    url: listening.url,
    key: mockKey(environment),
    close() {
      endWatch();
      return listening.stop();
    },
  };
}

type Problems = { readonly problems: readonly string[] };

async function attempt<T>(work: () => Promise<T>): Promise<T | Problems> {
  try {
    return await work();
  } catch (error) {
    return { problems: [`openapi: ${error instanceof Error ? error.message : error}`] };
  }
}

function printing(listener: RequestListener, print: (line: string) => void): RequestListener {
  return (req, res) => {
    const { method, url } = req;
    res.once('finish', () => print(lineOf({ method, url }, res.statusCode)));
    listener(req, res);
  };
}
