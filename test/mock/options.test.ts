import { DEFAULT_HOST, DEFAULT_PORT, type OPTIONS, readOptions } from '../../scripts/mock/options.ts';
import { SECRET_BYTES, secretText } from '../../src/domain/webhooks/webhook-message.ts';

const SECRET = secretText(Buffer.alloc(SECRET_BYTES, 7));

/** A command line for each option with a value other than its default, and the options that must be read from it. */
const UNLIKE_DEFAULTS: Record<keyof typeof OPTIONS, readonly [string[], object]> = {
  port: [['--port', '1'], { port: 1 }],
  host: [['--host', '127.0.0.2'], { host: '127.0.0.2' }],
  environment: [['--environment', 'test'], { environment: 'test' }],
  limit: [['--limit', '0'], { limits: { perKey: 0, perOrganization: 0 } }],
  dynamic: [['--dynamic'], { dynamicSeed: 'random' }],
  'dynamic-seed': [['--dynamic-seed', 'a'], { dynamicSeed: 'a' }],
  seed: [['--seed', 'seed.json'], { isStateful: true, seedFile: 'seed.json' }],
  pack: [['--pack'], { mode: 'pack' }],
  stateful: [['--stateful'], { isStateful: true }],
  proxy: [['--proxy', 'http://localhost'], { mode: 'proxy', target: new URL('http://localhost') }],
  'stock-prism': [['--stock-prism'], { mode: 'stock-prism' }],
  'send-events': [['--send-events', 'http://localhost', '--secret', SECRET], { receiver: new URL('http://localhost') }],
  secret: [['--send-events', 'http://localhost', '--secret', SECRET], { secret: Buffer.alloc(SECRET_BYTES, 7) }],
  help: [['--help'], { mode: 'help' }],
};

test.each(Object.values(UNLIKE_DEFAULTS))('%j is read, and differs from the command without it', (parameters, read) => {
  const defaults = readOptions([], () => 'random');
  expect(defaults).toEqual({
    mode: 'mock',
    port: DEFAULT_PORT,
    host: DEFAULT_HOST,
    environment: 'live',
    isStateful: false,
    seedFile: undefined,
    limits: undefined,
    dynamicSeed: undefined,
  });
  expect(defaults).not.toMatchObject(read);
  expect(readOptions(parameters, () => 'random')).toMatchObject(read);
});

test.each([
  [['--port', 'x'], '--port is 0 to 65535.'],
  [['--environment', 'staging'], '--environment is live or test.'],
  [['--limit', 'many'], '--limit is a number of requests per second, 0 to 1000000.'],
  [['--limit', '-1'], '--limit is a number of requests per second, 0 to 1000000.'],
  [['--port', '-1'], '--port is 0 to 65535.'],
  [['--proxy', 'localhost'], '--proxy is the address of a server'],
  [['--proxy', 'ftp://localhost'], '--proxy is the address of a server'],
  [
    ['--proxy', 'http://localhost', '--dynamic'],
    'Leave out --dynamic, --dynamic-seed, --stateful, --seed and --limit.',
  ],
  [
    ['--proxy', 'http://localhost', '--stateful'],
    'Leave out --dynamic, --dynamic-seed, --stateful, --seed and --limit.',
  ],
  [['--stock-prism', '--stateful'], '--stock-prism takes --port, --host, --dynamic and --dynamic-seed only.'],
  [
    ['--stock-prism', '--proxy', 'http://localhost'],
    '--stock-prism takes --port, --host, --dynamic and --dynamic-seed only.',
  ],
  [
    ['--stock-prism', '--environment', 'test'],
    '--stock-prism takes --port, --host, --dynamic and --dynamic-seed only.',
  ],
  [['--send-events', 'localhost'], '--send-events is the URL of your receiver'],
  [['--send-events', 'ftp://localhost', '--secret', SECRET], '--send-events is the URL of your receiver'],
  [['--secret', SECRET], '--send-events is the URL of your receiver'],
  [['--send-events', 'http://localhost'], '--secret is whsec_ and 24 to 64 bytes in base64'],
  [['--send-events', 'http://localhost', '--secret', 'whsec_AAAA'], '--secret is whsec_ and 24 to 64 bytes in base64'],
  [['--send-events', 'http://localhost', '--secret', SECRET, '--stateful'], '--send-events takes --secret only.'],
  [['--send-events', 'http://localhost', '--secret', SECRET, '--seed', 'a'], '--send-events takes --secret only.'],
  [['--nothing'], "Unknown option '--nothing'"],
  [['more'], "Unexpected argument 'more'"],
])('%j is refused', (parameters, words) => {
  expect(() => readOptions(parameters, () => '')).toThrow(words);
});
