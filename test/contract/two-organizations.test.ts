import { operations } from '../support/contract.ts';
import { requestFor, sendTo, successOf, withQuery } from '../support/every-operation.ts';
import { walk } from '../support/programs.ts';
import { createTestOrganization, startServer, type TestOrganization, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const LIST = '/api/parent_programs';
const IDEMPOTENCY_KEY = 'theirs-and-ours';

/** An organization that has used everything that a request can name: ids, external ids, cursors, idempotency keys. */
async function furnished() {
  const theirs = await createTestOrganization(server);
  const secrets = Array.from({ length: 3 }, () => `secret-${crypto.randomUUID()}`);
  for (const [i, secret] of secrets.entries()) {
    await theirs.client.post(
      LIST,
      { name: secret, external_id: secret, description: secret, metadata: { secret } },
      { headers: { 'Idempotency-Key': i === 0 ? IDEMPOTENCY_KEY : secret } },
    );
  }
  const page = (await theirs.client.get(`${LIST}?limit=1`)).body;
  const { id }: { id: string } = page.data[0];
  const values = [id, secrets[0] ?? '', page.page.next_cursor, theirs.id];
  return { theirs, id, values, snapshot: await snapshotOf(theirs) };
}

/** All that the API shows of an organization. */
async function snapshotOf({ client }: TestOrganization): Promise<string> {
  return JSON.stringify((await walk(client, `${LIST}?limit=100`)).map(({ body }) => body.data));
}

// Of every operation, whoever adds it: the attack is a request with whatever another organization has.
describe.each(operations.map((operation) => [operation.operationId, operation] as const))('%s', (_, operation) => {
  test("with another organization's id: as if it did not exist, and nothing of theirs changes", async () => {
    const { theirs, id, snapshot } = await furnished();
    const ours = await createTestOrganization(server);
    const foreign = await sendTo(ours.client, requestFor(operation, { id }));
    const unknown = await sendTo(ours.client, requestFor(operation, { id: crypto.randomUUID() }));
    expect(foreign.status).toBe(operation.path.includes('{') ? 404 : successOf(operation));
    if (operation.path.includes('{')) expect(foreign.text).toBe(unknown.text);
    expect(foreign.text).not.toContain('secret-');
    expect(foreign.text).not.toContain(theirs.id);
    expect(await snapshotOf(theirs)).toBe(snapshot);
  });

  test('with each parameter set to what theirs would be: nothing of theirs is told', async () => {
    const { theirs, id, values, snapshot } = await furnished();
    const ours = await createTestOrganization(server);
    const parameters = (operation.parameters ?? []).filter(({ in: location }) => location !== 'path');
    for (const { name, in: location } of parameters) {
      for (const value of values) {
        const request = requestFor(operation, { id });
        const answer = await sendTo(
          ours.client,
          location === 'query'
            ? { ...request, url: withQuery(request.url, `${name}=${encodeURIComponent(value)}`) }
            : { ...request, headers: { ...request.headers, [name]: value } },
        );
        // The message may repeat what was sent, and nothing else.
        expect(answer.text.replaceAll(value, '')).not.toMatch(/secret-|"description":"[^"]*secret/);
        expect(answer.text.replaceAll(value, '')).not.toContain(theirs.id);
      }
    }
    expect(await snapshotOf(theirs)).toBe(snapshot);
  });

  test('with their idempotency key: done for us, apart from what theirs was for', async () => {
    if (!(operation.parameters ?? []).some(({ name }) => name === 'Idempotency-Key')) return;
    const { theirs, snapshot } = await furnished();
    const ours = await createTestOrganization(server);
    const request = requestFor(operation, { id: crypto.randomUUID() });
    const answer = await sendTo(ours.client, { ...request, headers: { 'Idempotency-Key': IDEMPOTENCY_KEY } });
    expect(answer.status).toBe(successOf(operation));
    expect(snapshot).not.toContain(answer.body.id);
    expect(await snapshotOf(theirs)).toBe(snapshot);
  });

  test('with their key: it is theirs that answers, whatever of ours the request names', async () => {
    const { theirs } = await furnished();
    const { theirs: ours, id, values, snapshot } = await furnished();
    const answer = await sendTo(theirs.client, requestFor(operation, { id }));
    expect(answer.status).toBe(operation.path.includes('{') ? 404 : successOf(operation));
    for (const value of values) expect(answer.text).not.toContain(value);
    expect(await snapshotOf(ours)).toBe(snapshot);
  });
});

test("a cursor of another organization's list is refused, not followed", async () => {
  const { values } = await furnished();
  const ours = await createTestOrganization(server);
  const answer = await ours.client.get(`${LIST}?limit=1&cursor=${values[2]}`);
  expect(answer.status).toBe(422);
  expect(Object.keys(answer.body.errors)).toEqual(['cursor']);
});
