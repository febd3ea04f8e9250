import { inspect } from 'node:util';
import { createClient, ResponseError } from '../../src/client/charter-client.ts';
import type { ClientOptions } from '../../src/client/settings.ts';
import {
  hangsUp,
  respondsWith,
  type Step,
  staysSilent,
  useScriptedServer,
} from '../support/servers/scripted-server.ts';

const apiKey = 'charter_test_THIS_MUST_NOT_BE_SEEN';

const server = await useScriptedServer();
const elsewhere = await useScriptedServer();
elsewhere.play(respondsWith(200));

function client(options: Partial<ClientOptions> = {}) {
  return createClient({ baseUrl: server.url, apiKey, retries: 0, ...options });
}

/** Returns everything that a log or a console could print about the value. */
function shown(value: unknown): string {
  const { message, stack } = Object(value);
  const deep = inspect(value, { depth: 20, showHidden: true, getters: true });
  return [String(value), message, stack, deep, JSON.stringify(value)].join('\n');
}

async function failureOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail.');
}

describe('the key does not appear in', () => {
  test('the client', () => {
    expect(shown(client())).not.toContain(apiKey);
  });

  test('a response', async () => {
    server.play(respondsWith(403));
    expect(shown(await client().GET('/api/key'))).not.toContain(apiKey);
  });

  const page: Step = (res) =>
    res.writeHead(502, { 'Content-Type': 'text/html' }).end(`<p>Authorization: ${apiKey}</p>`);
  test.each<[string, Step, string, Partial<ClientOptions>]>([
    ['connection broke', hangsUp, 'NetworkError', {}],
    ['response did not arrive', staysSilent, 'TimeoutError', { timeoutMs: 20 }],
    ['response is an HTML page that repeats the request', page, 'UnexpectedResponseError', {}],
  ])('the error of a call whose %s', async (_title, step, name, options) => {
    server.play(step);
    const error = await failureOf(() => client(options).GET('/api/key'));
    expect(error).toMatchObject({ name });
    expect(shown(error)).not.toContain(apiKey);
  });

  test('the error of a list that ends early', async () => {
    server.play(respondsWith(401));
    const error = await failureOf(() => client().items('/api/parent_programs').next());
    expect(error).toBeInstanceOf(ResponseError);
    expect(shown(error)).not.toContain(apiKey);
  });

  test('the error of a custom fetch that includes the whole request', async () => {
    const fetch = async (request: Request): Promise<Response> => {
      throw Object.assign(new Error(`Cannot send ${request.headers.get('Authorization')}`), { request });
    };
    const error = await failureOf(() => client({ fetch }).GET('/api/key'));
    expect(error).toMatchObject({ name: 'NetworkError', message: expect.stringContaining('Bearer [the API key]') });
    expect(shown(error)).not.toContain(apiKey);
  });

  test.each([
    undefined,
    '',
    ' ',
    `${apiKey}\n`,
    ` ${apiKey}`,
    `Bearer ${apiKey}`,
    `"${apiKey}"`,
    `${apiKey}ü`,
    apiKey.repeat(99),
  ])('the error of a malformed key: %j', async (malformed) => {
    const error = await failureOf(() => createClient({ baseUrl: server.url, apiKey: malformed }));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(/^TypeError: apiKey /);
    expect(shown(error)).not.toContain(apiKey);
  });
});

test.each([`${apiKey}\n`, `${apiKey}\r\n`, ` ${apiKey}`])('the blank or line break in the key %j is named', (key) => {
  expect(() => client({ apiKey: key })).toThrow('apiKey begins or ends with a blank or a line break. Remove it');
});

test('a key with a "Bearer" prefix is refused with a remedy', () => {
  expect(() => client({ apiKey: `bearer ${apiKey}` })).toThrow('apiKey must be the API key alone, without "Bearer".');
});

describe('the key is sent to no other host', () => {
  const leading =
    (status: number): Step =>
    (res) =>
      res.writeHead(status, { Location: `${elsewhere.url}/api/key` }).end();

  test.each([301, 302, 303, 307, 308])('a redirect with %d is neither followed nor retried', async (status) => {
    server.play(leading(status));
    const failing = client({ retries: 2 }).GET('/api/key');
    await expect(failing).rejects.toMatchObject({ name: 'UnexpectedResponseError', status });
    await expect(failing).rejects.toThrow(`/api/key got ${status}, but it is a redirect.`);
    expect(server.received).toHaveLength(1);
    expect(elsewhere.received).toHaveLength(0);
  });

  test('a path cannot name another host', async () => {
    const host = new URL(elsewhere.url).host;
    for (const path of [`@${host}/api/key`, elsewhere.url, `.${host}/`, '']) {
      // A program in JavaScript can pass a path that the types forbid.
      const get: (path: string) => Promise<unknown> = Reflect.get(client(), 'GET');
      await expect(get(path)).rejects.toThrow(new TypeError('The path must begin with "/".'));
    }
    expect(elsewhere.received).toHaveLength(0);
  });

  test.each(['', '.', '..'])('the path parameter %j cannot lead to another path', async (id) => {
    server.play(respondsWith(204));
    const failing = client().DELETE('/api/parent_programs/{id}', { params: { path: { id } } });
    await expect(failing).rejects.toThrow('params.path.id must not be empty, "." or "..".');
    expect(server.received).toHaveLength(0);
  });

  test('the options of a call cannot set another host, fetch or header', async () => {
    server.play(respondsWith(200));
    const get: (path: string, options: object) => Promise<unknown> = Reflect.get(client(), 'GET');
    const headers = { Authorization: 'Bearer another' };
    const params = { header: headers };
    await get('/api/key', { baseUrl: elsewhere.url, fetch: () => fetch(elsewhere.url), headers, params });
    expect(server.received.map((each) => each.headers.authorization)).toEqual([`Bearer ${apiKey}`]);
    expect(elsewhere.received).toHaveLength(0);
  });
});

describe('a baseUrl is refused', () => {
  test.each<[string, string | undefined, string]>([
    ['with credentials', 'https://ada:secret@charter.example.org', 'must not contain a user name or a password'],
    ['with a password', 'https://:secret@charter.example.org', 'must not contain a user name or a password'],
    ['with a user name', 'https://secret@charter.example.org', 'must not contain a user name or a password'],
    ['of another scheme', 'ftp://charter.example.org/secret', 'must begin with https:// or http://'],
    ['of a scheme that executes code', 'javascript:alert("secret")', 'must begin with https:// or http://'],
    ['that is relative', '/secret', 'must be an absolute URL'],
    ['that is empty', '', 'must be an absolute URL'],
    ['that is missing', undefined, 'must be an absolute URL'],
    ['with a query', 'https://charter.example.org?key=secret', 'must end before any query or fragment'],
    ['with a fragment', 'https://charter.example.org/#secret', 'must end before any query or fragment'],
    ['with a parameter', 'https://charter.example.org/{id}', 'must end before any query or fragment'],
  ])('%s', async (_title, baseUrl, words) => {
    const error = await failureOf(() => createClient({ baseUrl, apiKey }));
    expect(String(error)).toContain(`TypeError: baseUrl ${words}`);
    expect(shown(error)).not.toContain('secret');
  });

  test('but a path or a trailing slash is accepted', async () => {
    server.play(respondsWith(200));
    for (const end of ['', '/', '/proxied', '/proxied//']) await client({ baseUrl: server.url + end }).GET('/api/key');
    expect(server.received.map(({ url }) => url)).toEqual([
      '/api/key',
      '/api/key',
      '/proxied/api/key',
      '/proxied/api/key',
    ]);
  });
});

test.each<[Partial<ClientOptions>, string]>([
  [{ timeoutMs: 0 }, 'timeoutMs must be an integer from 1 to 600000.'],
  // setTimeout would treat this value as 1 ms.
  [{ timeoutMs: 2 ** 31 }, 'timeoutMs must be an integer from 1 to 600000.'],
  [{ timeoutMs: Number.NaN }, 'timeoutMs must be an integer from 1 to 600000.'],
  [{ retries: -1 }, 'retries must be an integer from 0 to 10.'],
  [{ retries: 1.5 }, 'retries must be an integer from 0 to 10.'],
  [{ totalTimeoutMs: Number.POSITIVE_INFINITY }, 'totalTimeoutMs must be an integer from 1 to 3600000.'],
])('%o is refused', (options, message) => {
  expect(() => client(options)).toThrow(new RangeError(message));
});
