import { parseArgs } from 'node:util';
import { ENVIRONMENTS, type Environment } from '../../src/domain/api-key.ts';

export const DEFAULT_PORT = 4010;
export const DEFAULT_HOST = '127.0.0.1';

export const HELP = `npm run mock -- [options]   answers as the server would, from the contract's examples, without a database

  --port N          ${DEFAULT_PORT} by default; 0 takes any free port
  --host ADDRESS    ${DEFAULT_HOST} by default; 0.0.0.0 for every address of this machine
  --environment E   ${ENVIRONMENTS.join(' or ')}: which keys are taken; live by default
  --dynamic         generates data that the schemas allow, in place of the examples
  --seed TEXT       with --dynamic: the same text generates the same data again
  --proxy URL       passes requests on to a real server, and prints and counts every disagreement with the contract
  --help            this text

Any well-formed key of the environment is taken, and may do everything. Pages of any origin may call (CORS).
Edits of openapi/ are served as soon as they are saved; while they have problems, those are printed.

Force any status and example with the header Prefer:
  Prefer: code=422                    the first fitting example of the status
  Prefer: code=422, example=limit     one of them by its name
  Prefer: example=external_id_taken   the status that has this example
A refusal is forced whatever else the request is; a success only for a request that the server would accept.
What the operation does not have is refused with a 422 that names what it has, under the field Prefer.

Nothing is kept. Lists hold 60 items made of the examples; limit, sort, filters and cursors work. One item is found by its
id, and any other id is shown as the example with that id. Writes answer with what was sent in the example; the same
body always gets the same id. If-Match takes every ETag that the mock gave for the id, and nothing else.
`;

export type Options = {
  readonly port: number;
  readonly host: string;
  readonly environment: Environment;
  /** Undefined: the contract's examples. */
  readonly seed: string | undefined;
  /** Undefined: the mock answers by itself. */
  readonly proxied: URL | undefined;
};

/** What is wrong with how the command was called. */
export class UsageError extends Error {}

/** Null: help is asked for. */
export function readOptions(parameters: readonly string[], randomSeed: () => string): Options | null {
  const values = parse(parameters);
  if (values.help) return null;
  const environment = ENVIRONMENTS.find((each) => each === values.environment);
  if (environment === undefined) throw new UsageError(`--environment is ${ENVIRONMENTS.join(' or ')}.`);
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535) throw new UsageError('--port is 0 to 65535.');
  const seed = values.seed ?? (values.dynamic ? randomSeed() : undefined);
  if (values.proxy !== undefined && seed !== undefined)
    throw new UsageError('--proxy passes on what the server answers. Leave --dynamic and --seed out.');
  return {
    ...{ port, host: values.host, environment, seed },
    proxied: values.proxy === undefined ? undefined : readUrl(values.proxy),
  };
}

function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '')
    throw new UsageError('--proxy is the address of a server, such as http://127.0.0.1:3000.');
  return url;
}

function parse(parameters: readonly string[]) {
  const options = {
    port: { type: 'string', default: String(DEFAULT_PORT) },
    host: { type: 'string', default: DEFAULT_HOST },
    environment: { type: 'string', default: 'live' },
    dynamic: { type: 'boolean', default: false },
    seed: { type: 'string' },
    proxy: { type: 'string' },
    help: { type: 'boolean', default: false },
  } as const;
  try {
    return parseArgs({ args: [...parameters], options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
