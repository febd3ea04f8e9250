import { startMock } from '../../scripts/mock/checkout.ts';
import { type CharterClient, createClient, type Schemas } from '../../src/client/charter-client.ts';
import { createTestOrganization, startServer } from '../support/servers/server.ts';

type Target = { readonly url: string; readonly apiKey: string; close(): Promise<void> };

/** All servers that implement the contract. The client's tests run against each of them. */
const TARGETS: readonly { readonly name: string; start(): Promise<Target> }[] = [
  { name: 'the server', start: startRealServer },
  { name: 'the mock', start: startMockServer },
];

/** Starts a server with an organization that has enough parent programs for several list pages. */
async function startRealServer(): Promise<Target> {
  const server = await startServer();
  const { key, client } = await createTestOrganization(server);
  for (const name of ['Nordic Scholars', 'Baltic Scholars', 'Alpine Scholars']) {
    await client.post('/api/parent_programs', { name });
  }
  return { url: server.url, apiKey: key, close: () => server.close() };
}

async function startMockServer(): Promise<Target> {
  const { url, key, close } = await startMock({ port: 0 });
  return { url, apiKey: key, close };
}

const PROGRAMS = '/api/parent_programs';
const PROGRAM = '/api/parent_programs/{id}';

describe.each(TARGETS)('against $name', ({ start }) => {
  let target: Target;
  let charter: CharterClient;
  let listed: Schemas['ParentProgram'];
  beforeAll(async () => {
    target = await start();
    charter = createClient({ baseUrl: target.url, apiKey: target.apiKey });
    const { value } = await charter.items(PROGRAMS).next();
    if (value === undefined) throw new Error('The list is empty.');
    listed = value;
  });
  afterAll(() => target.close());

  test('listParentPrograms: 200, with its list page and headers', async () => {
    const response = await charter.GET(PROGRAMS, { params: { query: { limit: 2, sort: '-created_at' } } });
    if (!response.ok) throw new Error(response.error.message);
    expect(response).toMatchObject({ ok: true, status: 200, tries: 1 });
    expect(response.data.data[0]?.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('ETag')).toMatch(/^".+"$/);
    expect(response.response.status).toBe(200);
  });

  test('listParentPrograms: 422, which names the parameter', async () => {
    const response = await charter.GET(PROGRAMS, { params: { query: { limit: 101 } } });
    expect(response.ok).toBe(false);
    if (response.status !== 422) throw new Error(`It responded with ${response.status}.`);
    expect(response.error.errors['limit']).toEqual([expect.stringContaining('100')]);
    expect(response.data).toBeUndefined();
  });

  test('getParentProgram: 304, with neither data nor error', async () => {
    const path = { id: listed.id };
    const first = await charter.GET(PROGRAM, { params: { path } });
    if (!first.ok) throw new Error(first.error.message);
    const header = { 'If-None-Match': first.headers.get('ETag') };
    const again = await charter.GET(PROGRAM, { params: { path, header } });
    expect(again).toMatchObject({ ok: false, status: 304 });
    expect(again).not.toHaveProperty('data');
    expect(again).not.toHaveProperty('error');
  });

  test('createParentProgram: 201, and its Location', async () => {
    const response = await charter.POST(PROGRAMS, { body: { name: 'Größe & Ähre', metadata: { region: 'nordic' } } });
    if (!response.ok) throw new Error(response.error.message);
    expect(response.status).toBe(201);
    expect(response.headers.get('Location')).toBe(`/api/parent_programs/${response.data.id}`);
  });

  test('createParentProgram: 422, which names the field', async () => {
    const response = await charter.POST(PROGRAMS, { body: { name: '' } });
    if (response.status !== 422) throw new Error(`It responded with ${response.status}.`);
    expect(Object.keys(response.error.errors)).toEqual(['name']);
  });

  test('updateParentProgram: 200', async () => {
    const params = { path: { id: listed.id }, header: { 'If-Match': '*' } };
    const response = await charter.PATCH(PROGRAM, { params, body: { description: null } });
    expect(response).toMatchObject({ ok: true, status: 200 });
  });

  test('updateParentProgram: 200 with an entity tag that a proxy has weakened', async () => {
    const path = { id: listed.id };
    const seen = await charter.GET(PROGRAM, { params: { path } });
    const header = { 'If-Match': `W/${seen.headers.get('ETag')}` };
    const response = await charter.PATCH(PROGRAM, { params: { path, header }, body: { description: null } });
    expect(response).toMatchObject({ ok: true, status: 200, tries: 1 });
  });

  test('deleteParentProgram: 204, with neither data nor error', async () => {
    const created = await charter.POST(PROGRAMS, { body: { name: 'Short-lived' } });
    if (!created.ok) throw new Error(created.error.message);
    const response = await charter.DELETE(PROGRAM, { params: { path: { id: created.data.id } } });
    expect(response).toMatchObject({ ok: true, status: 204 });
    expect(response).not.toHaveProperty('data');
  });

  test('getKey: 200', async () => {
    const response = await charter.GET('/api/key');
    if (!response.ok) throw new Error(response.error.message);
    expect(response.data.permissions).toContain('parent_programs:read');
  });

  test('an iteration over a list ends, even with one item on each list page', async () => {
    const names: string[] = [];
    for await (const { name } of charter.items(PROGRAMS, { params: { query: { limit: 1 } } })) names.push(name);
    expect(names).toContain(listed.name);
  });
});
