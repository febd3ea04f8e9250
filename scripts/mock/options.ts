import { parseArgs } from 'node:util';
import { ENVIRONMENTS, type Environment } from '../../src/domain/keys/api-key.ts';
import { MAX_REQUESTS_PER_SECOND } from '../../src/domain/keys/request-limits.ts';
import type { MockLimits } from './rate-limits.ts';

export const DEFAULT_PORT = 4010;
export const DEFAULT_HOST = '127.0.0.1';

/** The command with which the mock was started. */
export type Command = 'npm run mock --' | 'npx charter-mock';

export const helpOf = (
  command: Command,
) => `${command} [options]   responds as the server would, from the contract's examples and without a database

  --port N          ${DEFAULT_PORT} by default; 0 takes any free port
  --host ADDRESS    ${DEFAULT_HOST} by default; 0.0.0.0 listens on every address of this machine
  --environment E   ${ENVIRONMENTS.join(' or ')}: which API keys are accepted; live by default
  --stateful        later requests see what earlier ones created, changed and deleted, until the mock ends
  --seed FILE       like --stateful; begins with the data of a JSON file, in place of the examples
  --limit N         requests per second of each key; 500 by default, as on a server. 0: none
  --dynamic         generates data that the schemas allow, in place of the examples
  --dynamic-seed T  like --dynamic; the same text T generates the same data again
  --proxy URL       forwards requests to a real server; prints and counts every disagreement with the contract
  --send-events URL sends the contract's example events to a receiver, each once, and prints its responses
  --secret TEXT     the secret that signs them: whsec_ and 24 to 64 bytes in base64
${ofCheckout(command, CHECKOUT_OPTIONS)}  --help            prints this text

The mock accepts every well-formed key of the environment; each has all permissions. It allows any origin (CORS), which
a server does not. The document is at /openapi.json and /openapi.yaml.
${ofCheckout(command, EDITS)}
The header Prefer (RFC 7240) selects a response:
  Prefer: code=422                    the example of this status that fits best
  Prefer: code=422, example=limit     an example by its name
  Prefer: example=external_id_taken   the status that has this example
  Prefer: delay=2000                  waits so many milliseconds first (or delay=2s), 30 seconds at most
  Prefer: dynamic=true                generated data for this request; dynamic=false: examples
  Prefer: wait=5                      met unless the delay is longer
The mock sends a refusal whatever else is wrong with the request, and a success only where the server would accept it.
For a status or an example that the operation does not have, it responds with a 422 that lists those that it has. The
header Preference-Applied names what was applied. X-Mock-Warning and the mock's output name the rest.

The page /__mock shows the requests and what was wrong with them, and forces responses from outside of your app, for a number
of requests or until you clear them. Scripts use /__mock/requests and /__mock/overrides instead:
  curl -X POST -H "Content-Type: application/json" http://${DEFAULT_HOST}:${DEFAULT_PORT}/__mock/overrides \\
    -d '{"operation": "createParentProgram", "status": 503, "times": 2, "delay_ms": 500}'

Without --stateful, the mock keeps nothing. A list has 60 items, made from the examples; limit, sort, filters and cursors
work. A request for one item finds it by its id; any other id gets the example with that id. Writes respond with the
example and what was sent; the same body always gets the same id. If-Match accepts an ETag that the mock has sent for the
id, and no other.

With --stateful, the same 60 items are only the beginning. Everything is as on the server: an unknown id gets 404, a taken
external_id 409, an outdated ETag 412, and an Idempotency-Key its first response again. A response that Prefer or /__mock
names by its example changes nothing, nor does dynamic=true. POST /__mock/reset begins again.

A file for --seed has items by the name of their list. Fields that a creation can omit can be omitted here, too, as can id,
created_at and updated_at. The mock names each mistake, and does not start:
  {"parent_programs": [{"name": "Nordic Scholars Exchange", "external_id": "sis-20417"}]}

--send-events takes --secret only, and starts no server. The webhook-id of an example is always the same. The exit code is
0 if the receiver responded to every event with 2xx, otherwise 1.
${ofCheckout(command, STOCK_PRISM)}`;

function ofCheckout(command: Command, text: string): string {
  return command === 'npm run mock --' ? text : '';
}

const CHECKOUT_OPTIONS = `  --stock-prism     starts stock Prism on generated/openapi.yaml instead; for comparison, and for teams that know it
  --pack            packs generated/charter-mock-<version>.tgz, the mock for test suites, and starts nothing
`;

const EDITS = `It serves edits of openapi/ as soon as they are saved, and while the contract has problems, it prints them instead.
`;

const STOCK_PRISM = `
--stock-prism runs the command "prism mock" of @stoplight/prism-cli. Of the options above it takes --port, --host, --dynamic
and --dynamic-seed. openapi/guides/mock-server.md lists where its responses differ from the mock's and the server's.
`;

type Address = { readonly port: number; readonly host: string };

export type Options =
  | { readonly mode: 'help' }
  | { readonly mode: 'pack' }
  | (Address & {
      readonly mode: 'mock';
      readonly environment: Environment;
      readonly dynamicSeed: string | undefined;
      readonly isStateful: boolean;
      /** The file with the initial data of a stateful mock. */
      readonly seedFile: string | undefined;
      readonly limits: MockLimits | undefined;
    })
  | (Address & { readonly mode: 'proxy'; readonly target: URL })
  | { readonly mode: 'send-events'; readonly receiver: URL; readonly secret: Uint8Array }
  | (Address & {
      readonly mode: 'stock-prism';
      readonly isDynamic: boolean;
      readonly dynamicSeed: string | undefined;
    });

/** The error for a mistake in the command line. */
export class UsageError extends Error {}

/** Returns the options of the command line. With `--dynamic` but without a seed, the seed is the result of `randomSeed`. */
export function readOptions(parameters: readonly string[], randomSeed: () => string): Options {
  const values = parse(parameters);
  if (values.help) return { mode: 'help' };
  if (values.pack) return { mode: 'pack' };
  if (values['send-events'] !== undefined || values.secret !== undefined) return readSending(values);
  const { host, seed: seedFile, 'dynamic-seed': dynamicSeed } = values;
  const isStateful = values.stateful || seedFile !== undefined;
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535) throw new UsageError('--port is 0 to 65535.');
  const isDynamic = values.dynamic || dynamicSeed !== undefined;
  if (values['stock-prism']) {
    if ([values.environment, values.proxy, values.limit].some((value) => value !== undefined) || isStateful)
      throw new UsageError(
        '--stock-prism takes --port, --host, --dynamic and --dynamic-seed only. Leave out the others.',
      );
    return { mode: 'stock-prism', port, host, isDynamic, dynamicSeed };
  }
  const environment = ENVIRONMENTS.find((each) => each === (values.environment ?? 'live'));
  if (environment === undefined) throw new UsageError(`--environment is ${ENVIRONMENTS.join(' or ')}.`);
  if (values.proxy !== undefined) {
    if (isDynamic || isStateful || values.limit !== undefined)
      throw new UsageError(
        '--proxy forwards the responses of a server. Leave out --dynamic, --dynamic-seed, --stateful, --seed and --limit.',
      );
    return { mode: 'proxy', port, host, target: parseUrl(values.proxy) };
  }
  return {
    mode: 'mock',
    port,
    host,
    environment,
    isStateful,
    seedFile,
    limits: values.limit === undefined ? undefined : { perKey: parseLimit(values.limit), perOrganization: 0 },
    dynamicSeed: dynamicSeed ?? (isDynamic ? randomSeed() : undefined),
  };
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit <= MAX_REQUESTS_PER_SECOND) return limit;
  throw new UsageError(`--limit is a number of requests per second, 0 to ${MAX_REQUESTS_PER_SECOND}.`);
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '')
    throw new UsageError('--proxy is the address of a server, such as http://127.0.0.1:3000.');
  return url;
}

type Values = ReturnType<typeof parse>;

function readSending({ 'send-events': receiver, secret, ...values }: Values): Options {
  const others = [
    'environment',
    'limit',
    'dynamic',
    'dynamic-seed',
    'stateful',
    'seed',
    'proxy',
    'stock-prism',
  ] as const;
  if (others.some((name) => values[name] !== undefined && values[name] !== false))
    throw new UsageError('--send-events takes --secret only. Leave out the others.');
  const url = URL.parse(receiver ?? '');
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '')
    throw new UsageError('--send-events is the URL of your receiver, such as http://127.0.0.1:8000/webhooks.');
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret ?? '') ?? [];
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length < 24 || bytes.length > 64)
    throw new UsageError('--secret is whsec_ and 24 to 64 bytes in base64: the secret that your receiver has.');
  return { mode: 'send-events', receiver: url, secret: bytes };
}

export const OPTIONS = {
  port: { type: 'string', default: String(DEFAULT_PORT) },
  host: { type: 'string', default: DEFAULT_HOST },
  environment: { type: 'string' },
  limit: { type: 'string' },
  dynamic: { type: 'boolean', default: false },
  'dynamic-seed': { type: 'string' },
  stateful: { type: 'boolean', default: false },
  seed: { type: 'string' },
  proxy: { type: 'string' },
  'stock-prism': { type: 'boolean', default: false },
  'send-events': { type: 'string' },
  secret: { type: 'string' },
  pack: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

function parse(parameters: readonly string[]) {
  try {
    return parseArgs({ args: withNegativeNumbers(parameters), options: OPTIONS }).values;
  } catch (error) {
    // Cuts off what follows ". " in Node's message: advice on how to pass an argument that begins with a hyphen.
    throw new UsageError(`${String(Object(error).message).split(/\.\s|\.?$/, 1)[0]}.`);
  }
}

/** Joins `--limit -1` to `--limit=-1`, because `parseArgs` would report `-1` as an ambiguous argument. */
function withNegativeNumbers(parameters: readonly string[]): string[] {
  const isNegative = (place: number) =>
    /^-\d/.test(parameters[place] ?? '') && /^--(port|limit)$/.test(parameters[place - 1] ?? '');
  return parameters.flatMap((each, place) => {
    if (isNegative(place)) return [];
    return isNegative(place + 1) ? `${each}=${parameters[place + 1]}` : each;
  });
}
