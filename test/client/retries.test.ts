import { createCall } from '../../src/client/calling.ts';
import { type CharterClient, NetworkError } from '../../src/client/charter-client.ts';
import { readSettings } from '../../src/client/settings.ts';
import { createClientOn, createTestClock } from '../support/clients/charter-client.ts';
import { hangsUp, respondsWith, useScriptedServer } from '../support/servers/scripted-server.ts';

const PROGRAMS = '/api/parent_programs';
const PROGRAM = '/api/parent_programs/{id}';
const path = { id: '019c2291-34b8-752e-bca9-6513269e0d37' };
const busy = respondsWith(503, { 'Retry-After': '2' });
const fine = respondsWith(200);

const server = await useScriptedServer();

function client(): CharterClient {
  return createClientOn(createTestClock(), { baseUrl: server.url, apiKey: 'charter_test_key' });
}

describe('the client retries', () => {
  type Case = [
    title: string,
    tries: number,
    call: (charter: CharterClient) => Promise<{ status: number; tries: number }>,
  ];
  const cases: Case[] = [
    ['GET', 2, (charter) => charter.GET(PROGRAMS)],
    ['DELETE', 2, (charter) => charter.DELETE(PROGRAM, { params: { path } })],
    ['POST, because it gets an Idempotency-Key', 2, (charter) => charter.POST(PROGRAMS, { body: { name: 'Nordic' } })],
    [
      'PATCH with an entity tag in If-Match',
      2,
      (charter) =>
        charter.PATCH(PROGRAM, { params: { path, header: { 'If-Match': '"x"' } }, body: { name: 'Nordic' } }),
    ],
    // A late retry could undo a change that another client made in the meantime.
    [
      'not PATCH without If-Match',
      1,
      (charter) => charter.PATCH(PROGRAM, { params: { path }, body: { name: 'Nordic' } }),
    ],
    [
      'not PATCH with If-Match: *, which matches any version',
      1,
      (charter) =>
        charter.PATCH(PROGRAM, { params: { path, header: { 'If-Match': ' * ' } }, body: { name: 'Nordic' } }),
    ],
  ];
  for (const [title, tries, call] of cases) {
    test(`${title}: after a 503`, async () => {
      server.play(busy, fine);
      expect(await call(client())).toMatchObject({ status: tries === 1 ? 503 : 200, tries });
      expect(server.received).toHaveLength(tries);
    });
    test(`${title}: after a broken connection`, async () => {
      server.play(hangsUp, fine);
      const response = call(client());
      if (tries === 1) await expect(response).rejects.toBeInstanceOf(NetworkError);
      else expect(await response).toMatchObject({ status: 200, tries });
      expect(server.received).toHaveLength(tries);
    });
  }

  // A request that exceeds a rate limit is refused before it has any effect.
  test('after a 429, every request, as long as no later attempt may have been executed', async () => {
    const update = () => client().PATCH(PROGRAM, { params: { path }, body: { name: 'Nordic' } });
    const limited = respondsWith(429, { 'Retry-After': '1' });
    server.play(limited, limited, fine);
    expect(await update()).toMatchObject({ status: 200, tries: 3 });
    server.play(limited, limited, limited, limited);
    expect(await update()).toMatchObject({ status: 429, tries: 3 });
    server.play(limited, hangsUp, fine);
    await expect(update()).rejects.toBeInstanceOf(NetworkError);
  });

  test.each([408, 429, 502, 504])('%d, from a time limit, a rate limit or a proxy', async (status) => {
    server.play(respondsWith(status), fine);
    expect(await client().GET(PROGRAMS)).toMatchObject({ status: 200, tries: 2 });
  });

  test.each([400, 401, 403, 404, 409, 412, 422, 500])('not %d, which a retry would get again', async (status) => {
    server.play(respondsWith(status), fine);
    expect(await client().GET(PROGRAMS)).toMatchObject({ status, tries: 1 });
  });

  test('not POST without an Idempotency-Key, if the contract ever has such an operation', async () => {
    server.play(busy, fine);
    const settings = readSettings({ baseUrl: server.url, apiKey: 'charter_test_key' });
    const response = await createCall(settings, createTestClock())('post', '/api/another', { body: {} });
    expect(response).toMatchObject({ status: 503, tries: 1 });
    expect(server.received[0]?.headers).not.toHaveProperty('idempotency-key');
  });

  test('exactly the same request', async () => {
    server.play(busy, hangsUp, fine);
    const response = await client().POST(PROGRAMS, { body: { name: 'Größe', metadata: { a: 'b' } } });
    expect(response.tries).toBe(3);
    const [first, ...others] = server.received;
    expect(JSON.parse(first?.body ?? '')).toEqual({ name: 'Größe', metadata: { a: 'b' } });
    for (const other of others) expect(other).toEqual(first);
  });
});

describe('Idempotency-Key', () => {
  const keysSent = () => server.received.map(({ headers }) => headers['idempotency-key']);

  test('differs between calls and stays the same for all attempts of one call', async () => {
    server.play(busy, fine, fine);
    const charter = client();
    await charter.POST(PROGRAMS, { body: { name: 'Nordic' } });
    await charter.POST(PROGRAMS, { body: { name: 'Nordic' } });
    const [first, again, second] = keysSent();
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(again).toBe(first);
    expect(second).toMatch(/^[0-9a-f]{32}$/);
    expect(second).not.toBe(first);
  });

  test("is the caller's own if one is given", async () => {
    server.play(busy, fine);
    const header = { 'Idempotency-Key': 'order-1' };
    await client().POST(PROGRAMS, { params: { header }, body: { name: 'Nordic' } });
    expect(keysSent()).toEqual(['order-1', 'order-1']);
  });

  test('is sent only with creations', async () => {
    server.play(fine);
    await client().GET(PROGRAMS);
    await client().DELETE(PROGRAM, { params: { path } });
    expect(keysSent()).toEqual([undefined, undefined]);
  });
});
