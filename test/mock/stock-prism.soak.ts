// Checks the guide's tables of differences between unmodified Prism and the mock. Sends the request of each row to Prism and to
// the mock.

import { Client, exchangeRaw, parseRaw, type Reply, type Sending } from '../support/clients/client.ts';
import { readGuide } from '../support/contract/guides.ts';
import { kill, startFile, untilPrinted } from '../support/processes/process.ts';
import { useMock } from '../support/servers/mock.ts';

const LIST = '/api/parent_programs';
/** The id of the contract's first example. */
const NORDIC = '019c2291-34b8-752e-bca9-6513269e0d37';
const OTHER = '019c2291-34b8-752e-bca9-000000000000';
const PROBLEM = { 'content-type': 'application/problem+json' };
const JSON_TYPE = { 'content-type': expect.stringMatching(/^application\/json/) };

type Side = { readonly client: Client; readonly key: string };
/** What a response must have besides its status. `lacks` names a header that the response must not have. */
type Expected = { headers?: object; body?: object; text?: string; lacks?: string };
type Difference = {
  /** Sends the requests. The table describes the last response. */
  readonly send: (side: Side) => Promise<Reply>;
  readonly prism?: Expected;
  readonly mock?: Expected;
};

const get =
  (url: string, sending: Sending = {}) =>
  ({ client }: Side) =>
    client.get(url, sending);
const getWith = (url: string, headers: Sending['headers'] = {}) => get(url, { headers });
const post =
  (body: unknown, sending: Sending = {}) =>
  ({ client }: Side) =>
    client.post(LIST, body, sending);

const FIRST_PAGE = { data: [{ id: NORDIC }, { name: 'Alpine Teacher Residency' }] };

/** The differences, by the first cell of their row. */
const DIFFERENCES: Readonly<Record<string, Difference>> = {
  'an unknown query parameter': {
    send: get(`${LIST}?verbose=1`),
    mock: { body: { errors: { verbose: expect.any(Array) } } },
  },
  '`limit=0x10`': { send: get(`${LIST}?limit=0x10`) },
  'an invented `cursor`': { send: get(`${LIST}?cursor=x`) },
  'malformed percent-encoding': { send: get(`${LIST}?search=%ff%ff%ff`) },
  'a URL of more than 8 KiB': { send: get(`${LIST}?q=${'x'.repeat(9000)}`) },
  'a text that is not an API key': {
    send: get('/api/key', { key: 'x' }),
    mock: { body: { message: expect.stringContaining('This is not an API key') } },
  },
  'two `Authorization` headers': {
    send: ({ client, key }) =>
      client.get('/api/key', { headers: { Authorization: [`Bearer ${key}`, `Bearer ${key}`] } }),
  },
  '`bearer` in small letters': {
    send: ({ client, key }) => client.get('/api/key', { headers: { Authorization: `bearer ${key}` } }),
  },
  'an empty `Idempotency-Key`': { send: post({ name: 'x' }, { headers: { 'Idempotency-Key': '' } }) },
  'a stale `If-Match`': {
    send: ({ client }) => client.patch(`${LIST}/${NORDIC}`, { name: 'x' }, { headers: { 'If-Match': '"stale"' } }),
  },
  'a matching `If-None-Match`': {
    async send({ client }) {
      const { headers } = await client.get(`${LIST}/${NORDIC}`);
      return client.get(`${LIST}/${NORDIC}`, { headers: { 'If-None-Match': headers['etag'] } });
    },
  },
  'a body without `Content-Type`': { send: post('{"name":"x"}', { headers: { 'Content-Type': undefined } }) },
  'a body of more than 100 KiB': { send: post(`{"name":"x"}${' '.repeat(102_401)}`) },
  '`HEAD`': { send: ({ client }) => client.send('HEAD', LIST), mock: { text: '' } },
  'a slash at the end of the path': { send: get(`${LIST}/`), prism: { body: { errors: { id: expect.any(Array) } } } },

  'an unknown value of `sort`': {
    send: get(`${LIST}?sort=size`),
    prism: {
      headers: { 'sl-violations': expect.stringContaining('query parameter sort') },
      body: { message: expect.stringContaining('limit') },
    },
    mock: { body: { errors: { sort: expect.any(Array) } } },
  },
  'an unknown field in a body': {
    send: post({ name: 'x', colour: 'green' }),
    prism: {
      headers: { 'sl-violations': expect.stringContaining("'colour'") },
      body: { message: expect.stringContaining('name') },
    },
    mock: { body: { errors: { colour: expect.any(Array) } } },
  },
  'an unknown path': { send: get('/api/nothing'), prism: { headers: PROBLEM }, mock: { headers: JSON_TYPE } },
  'a method that the path does not have': {
    send: ({ client }) => client.send('PUT', LIST),
    prism: { headers: PROBLEM, lacks: 'allow' },
    mock: { headers: { ...JSON_TYPE, allow: 'GET, HEAD, POST' } },
  },
  '`Accept: text/html`': {
    send: getWith('/api/key', { Accept: 'text/html' }),
    prism: { headers: PROBLEM },
    mock: { headers: JSON_TYPE },
  },

  'a list with `limit=1`': {
    send: get(`${LIST}?limit=1`),
    prism: { body: FIRST_PAGE },
    mock: { body: { data: [{ id: NORDIC }] } },
  },
  'the next page of a list': {
    async send({ client }) {
      const { body } = await client.get(`${LIST}?limit=2`);
      return client.get(`${LIST}?limit=2&cursor=${body.page.next_cursor}`);
    },
    prism: { body: FIRST_PAGE },
    mock: { body: { data: [{ id: expect.not.stringMatching(NORDIC) }, {}] } },
  },
  'a list with a filter that nothing matches': {
    send: get(`${LIST}?external_id=nobody`),
    prism: { body: FIRST_PAGE },
    mock: { body: { data: [] } },
  },
  'any other `id`': {
    send: get(`${LIST}/${OTHER}`),
    prism: { body: { id: NORDIC } },
    mock: { body: { id: OTHER } },
  },
  'a create': {
    send: post({ name: 'Aegean Fellowship' }),
    prism: { headers: { location: `${LIST}/${NORDIC}` }, body: { name: 'Nordic Scholars Exchange' } },
    mock: { headers: { location: expect.not.stringMatching(NORDIC) }, body: { name: 'Aegean Fellowship' } },
  },
  'an update': {
    send: ({ client }) => client.patch(`${LIST}/${NORDIC}`, { name: 'Aegean Fellowship' }),
    prism: { body: { name: 'Nordic Scholars Network' } },
    mock: { body: { name: 'Aegean Fellowship' } },
  },
  'the same request twice': {
    send: async (side) => withEquality('x-request-id', await get('/api/key')(side), await get('/api/key')(side)),
    prism: { body: { isEqual: true } },
    mock: { body: { isEqual: false } },
  },
  'two items of a list': {
    send: async (side) =>
      withEquality('etag', await get(`${LIST}/${NORDIC}`)(side), await get(`${LIST}/${OTHER}`)(side)),
    prism: { body: { isEqual: true } },
    mock: { body: { isEqual: false } },
  },
  'a delete': {
    send: ({ client }) => client.delete(`${LIST}/${NORDIC}`),
    prism: { headers: { 'content-type': 'text/plain' } },
    mock: { lacks: 'content-type' },
  },
  'a call from a page of another origin': {
    send: getWith('/api/key', { Origin: 'https://app.example.org' }),
    prism: {
      headers: {
        'access-control-allow-origin': 'https://app.example.org',
        'access-control-allow-credentials': 'true',
      },
    },
    mock: { headers: { 'access-control-allow-origin': '*' }, lacks: 'access-control-allow-credentials' },
  },

  '`code=503` for an invalid request': { send: getWith(`${LIST}?limit=0`, { Prefer: 'code=503' }) },
  '`code=503` without a key': {
    send: getWith('/api/key', { Prefer: 'code=503', Authorization: undefined }),
  },
  'an example of a refusal, without `code`': {
    send: post({ name: 'x' }, { headers: { Prefer: 'example=external_id_taken' } }),
    prism: { headers: PROBLEM },
    mock: { body: { message: expect.stringContaining('external_id') } },
  },
  'a status that the operation does not have': {
    send: getWith('/api/key', { Prefer: 'code=418' }),
    prism: { headers: PROBLEM },
    mock: { body: { message: expect.stringContaining('It has: 200, 400') } },
  },
  '`code=401, example=rotated_key`': {
    send: getWith('/api/key', { Prefer: 'code=401, example=rotated_key' }),
    prism: { headers: { 'www-authenticate': 'Bearer realm="charter"' } },
    mock: { headers: { 'www-authenticate': 'Bearer realm="charter", error="invalid_token"' } },
  },
  '`__code=503` in the query': { send: get('/api/key?__code=503') },
};

/** The only row of the guide's tables in which Prism does not respond. */
const NO_RESPONSE = 'a body that is not readable JSON';

type Row = { readonly request: string; readonly prism: string; readonly mock: string };

const [, tables = ''] = readGuide('mock-server.md').split('## Compare with stock Prism');
const rows: readonly Row[] = tables
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| request |'))
  .map((line) => {
    const [, request = '', prism = '', mock = ''] = line.split('|').map((cell) => cell.trim());
    return { request, prism, mock };
  });

const running = startFile('scripts/mock/main.ts', ['--stock-prism', '--port', '0']);
afterAll(() => kill(running));
const mock = await useMock();
const [, url = ''] = await untilPrinted(running, /Prism is listening on (\S+)/);
const prism = { ...running, client: new Client(url, mock.key, () => {}), key: mock.key };

test('the tables have a row for each of these differences, and no other', () => {
  expect(rows.map(({ request }) => request).sort()).toEqual([...Object.keys(DIFFERENCES), NO_RESPONSE].sort());
});

test.each(rows.filter(({ request }) => request !== NO_RESPONSE))('$request: $prism; $mock', async (row) => {
  const difference = DIFFERENCES[row.request];
  if (difference === undefined) throw new Error('This row has no test.');
  expectReply(await difference.send(prism), row.prism, difference.prism);
  expectReply(await difference.send(mock), row.mock, difference.mock);
});

test('a body that is not readable JSON: Prism sends nothing, and only the client ends the connection', async () => {
  const { prism: cell, mock: mockCell } = rows.find(({ request }) => request === NO_RESPONSE) ?? {
    prism: '',
    mock: '',
  };
  const lines = ['Host: x', `Authorization: Bearer ${mock.key}`, 'Content-Type: application/json', 'Content-Length: 1'];
  const text = `POST ${LIST} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n{`;
  const [ofPrism, ofMock] = await Promise.all(
    [prism.client.baseUrl, mock.url].map((url) => exchangeRaw(url, text, { endAfterSending: true })),
  );
  expect(cell).toMatch(/^no response/);
  expect(ofPrism).toBe('');
  expect(parseRaw(ofMock ?? '').status).toBe(statusIn(mockCell));
});

function expectReply(reply: Reply, cell: string, { lacks, ...expected }: Expected = {}): void {
  expect(reply).toMatchObject({ status: statusIn(cell), ...expected });
  if (lacks !== undefined) expect(reply.headers).not.toHaveProperty([lacks]);
}

/** Returns the status at the beginning of a cell. */
function statusIn(cell: string): number {
  return Number(/^\d{3}\b/.exec(cell)?.[0]);
}

/** Returns the second response with a body that says whether both responses have the same value of the header. */
function withEquality(name: string, first: Reply, second: Reply): Reply {
  return { ...second, body: { isEqual: first.headers[name] === second.headers[name] } };
}
