// Keys with fewer permissions, and keys of a second organization.
import { formatKey } from '../../src/domain/keys/api-key.ts';
import { PERMISSIONS } from '../../src/domain/people/role.ts';
import { startTestMock, useMock } from '../support/servers/mock.ts';

const LIST = '/api/parent_programs';
const limits = { perKey: 0, perOrganization: 100 };
const mock = await useMock({ isStateful: true, seed: {}, limits, clock: () => 0 });
const { client, control } = mock;

beforeEach(() => control.reset({}));

const namesFor = async (key: string) =>
  (await client.get(LIST, { key })).body.data.map(({ name }: { name: string }) => name);

async function post(body: object) {
  const response = await fetch(`${mock.url}/__mock/keys`, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

test('403 for what the key may not do, in the words of a server, and nothing changes', async () => {
  const { status, body: created } = await post({ permissions: ['parent_programs:read'] });
  expect([status, created]).toEqual([
    201,
    { key: expect.any(String), permissions: ['parent_programs:read'], organization: 'Aurora Education Group' },
  ]);
  const { key } = created;
  const refused = await client.post(LIST, { name: 'x' }, { key });
  expect([refused.status, refused.body]).toEqual([
    403,
    { message: 'This API key lacks the permission parent_programs:write.' },
  ]);
  expect(mock.log.all.at(-1)?.problems).toEqual([refused.body.message]);
  expect(await namesFor(key)).toEqual([]);
  expect((await client.get('/api/key', { key })).body.permissions).toEqual(['parent_programs:read']);
  expect((await client.get(LIST, control.createKey({ permissions: [] }))).status).toBe(403);
});

test('the organizations see, change and delete only their own items', async () => {
  const { key } = control.createKey({ organization: 'Second organization' });
  const { organization } = (await client.get('/api/key', { key })).body;
  expect(organization.name).toBe('Second organization');
  expect(organization.id).not.toBe((await client.get('/api/key')).body.organization.id);
  const ours = await client.post(LIST, { name: 'Ours', external_id: 'one' });
  expect((await client.post(LIST, { name: 'Theirs', external_id: 'one' }, { key })).status).toBe(201);
  const changes = [
    { action: 'delete', id: ours.body.id },
    { action: 'create', body: { name: 'Batch' } },
  ];
  const { results } = (await client.post(`${LIST}/batch`, { changes }, { key })).body;
  expect(results.map(({ status }: { status: number }) => status)).toEqual([404, 201]);
  expect((await client.put(`${LIST}/by_external_id/one`, { name: 'Upserted' }, { key })).status).toBe(200);
  expect((await client.get(`${LIST}/${ours.body.id}`, { key })).status).toBe(404);
  expect(await namesFor(key)).toEqual(['Upserted', 'Batch']);
  expect(await namesFor(mock.key)).toEqual(['Ours']);
  expect((await client.get('/api/events')).body.data).toHaveLength(1);

  control.reset({ data: { parent_programs: [{ name: 'Of the reset' }] } });
  expect([await namesFor(key), await namesFor(mock.key)]).toEqual([[], ['Of the reset']]);
});

test('each organization has rate limits of its own', async () => {
  const { key } = control.createKey({ organization: 'Second organization' });
  const leftFor = async (used: string) => (await client.get('/api/key', { key: used })).headers['ratelimit'];
  const other = formatKey('live', 'Other'.repeat(8));
  expect([await leftFor(mock.key), await leftFor(other), await leftFor(key)]).toEqual(
    [99, 98, 99].map((left) => `"organization";r=${left};t=1`),
  );
});

test('the same options give the same key, and other options another one', () => {
  const keyWith = (options: Record<string, unknown>) => control.createKey(options).key;
  const key = keyWith({ organization: 'Second organization' });
  expect(keyWith({ organization: 'Second organization' })).toBe(key);
  expect(keyWith({ organization: 'Third organization' })).not.toBe(key);
});

test.each([
  [{ permissions: 'all' }, `permissions must be an array with any of: ${PERMISSIONS.join(', ')}.`],
  [{ permissions: ['x'] }, `permissions must be an array with any of: ${PERMISSIONS.join(', ')}.`],
  [{ organization: ' ' }, 'organization must be the name of an organization, of 1 to 100 characters.'],
  [{ name: 'x' }, 'name is not known. Fields: permissions, organization.'],
])('422 for %j', async (options, message) => {
  const { status, body } = await post(options);
  expect([status, body.message]).toEqual([422, message]);
});

test('a second organization needs a mock that keeps what is written', async () => {
  await using stateless = await startTestMock();
  expect(() => stateless.control.createKey({ organization: 'x' })).toThrow('Start it with --stateful.');
});
