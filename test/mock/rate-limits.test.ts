// The mock counts requests as the server does, so that developers can try how a client keeps to the rate limits.
import { formatKey } from '../../src/domain/keys/api-key.ts';
import { startTestMock, useMock } from '../support/servers/mock.ts';

const LIST = '/api/parent_programs';
let seconds = 0;
const limits = { perKey: 100, perOrganization: 150 };
const mock = await useMock({ isStateful: true, limits, clock: () => seconds * 1000 });
const { client } = mock;
const other = { key: formatKey('live', 'Other'.repeat(8)) };

beforeEach(() => mock.control.reset({}));

const send = (count: number) =>
  client.post(`${LIST}/batch`, { changes: Array(count).fill({ action: 'delete', id: ID }) });
const ID = '019c2291-34b8-752e-bca9-000000000000';

type Shown = { readonly status: number; readonly headers: Readonly<Record<string, string | undefined>> };
const limitsShownBy = ({ status, headers }: Shown) => [status, headers['ratelimit'], headers['retry-after']];

test('each request and each change of a batch counts, for its key and for all keys', async () => {
  const first = await client.get('/api/key');
  expect(first.headers['ratelimit-policy']).toBe('"key";q=100;w=1, "organization";q=150;w=1');
  expect(limitsShownBy(first)).toEqual([200, '"key";r=99;t=1', undefined]);
  expect(limitsShownBy(await client.get(`${LIST}/${ID}`))).toEqual([404, '"key";r=98;t=1', undefined]);
  expect(limitsShownBy(await send(90))).toEqual([200, '"key";r=8;t=1', undefined]);
  expect(limitsShownBy(await client.get('/api/key', other))).toEqual([200, '"organization";r=57;t=1', undefined]);
});

test('429 with Retry-After once they are used up, until a second has passed; a batch is never cut', async () => {
  for (let left = 99; left > 0; left -= 1) await client.get('/api/key');
  expect(limitsShownBy(await send(100))).toEqual([200, '"key";r=0;t=1', undefined]);
  expect(limitsShownBy(await client.get('/api/key'))).toEqual([429, '"key";r=0;t=1', '1']);
  expect(limitsShownBy(await client.get('/api/key', other))).toEqual([429, '"organization";r=0;t=1', '1']);
  seconds += 1;
  expect(limitsShownBy(await client.get('/api/key'))).toEqual([200, '"key";r=0;t=1', undefined]);
  expect(limitsShownBy(await client.get('/api/key'))).toEqual([429, '"key";r=0;t=1', '1']);
});

test('a forced response counts and is sent even if none is left, and a reset gives all back', async () => {
  const forced = (code: number) => client.get('/api/key', { headers: { Prefer: `code=${code}` } });
  expect(limitsShownBy(await forced(406))).toEqual([406, '"key";r=99;t=1', undefined]);
  expect(limitsShownBy(await forced(429))).toEqual([429, '"key";r=0;t=1', expect.anything()]);
  expect(limitsShownBy(await send(98))).toEqual([200, '"key";r=0;t=1', undefined]);
  expect(limitsShownBy(await forced(406))).toEqual([406, '"key";r=0;t=1', undefined]);
  mock.control.reset({});
  expect(limitsShownBy(await client.get('/api/key'))).toEqual([200, '"key";r=99;t=1', undefined]);
});

test('the limits are those of a server by default, and a limit of 0 is none', async () => {
  const [usual, free] = [await startTestMock(), await startTestMock({ limits: { perKey: 0, perOrganization: 0 } })];
  expect((await usual.client.get('/api/key')).headers['ratelimit-policy']).toMatch(
    /^"key";q=500;w=1, "org.*q=1000;w=1$/,
  );
  const unlimited = await fetch(`${free.url}/api/key`, { headers: { Authorization: `Bearer ${free.key}` } });
  expect([unlimited.status, unlimited.headers.get('ratelimit')]).toEqual([200, null]);
  await Promise.all([usual.close(), free.close()]);
});
