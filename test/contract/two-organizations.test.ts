import { operations } from '../support/contract.ts';
import { requestFor, sendTo, successOf, withQuery } from '../support/every-operation.ts';
import { walk } from '../support/programs.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/server.ts';

const server = await useServer();

const LIST = '/api/parent_programs';
const IDEMPOTENCY_KEY = 'theirs-and-ours';

/** An organization with one of everything a request can name: id, external id, cursor, idempotency key. */
async function createFullOrganization() {
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

/** Everything that the API returns for an organization. */
async function snapshotOf({ client }: TestOrganization): Promise<string> {
  return JSON.stringify((await walk(client, `${LIST}?limit=100`)).map(({ body }) => body.data));
}

// Includes every future operation. The attack: a request that names data of another organization.
describe.each(operations.map((operation) => [operation.operationId, operation] as const))('%s', (_, operation) => {
  test("an id of another organization gets the response of an unknown id, and that organization's data stays unchanged", async () => {
    const { theirs, id, snapshot } = await createFullOrganization();
    const ours = await createTestOrganization(server);
    const foreign = await sendTo(ours.client, requestFor(operation, { id }));
    const unknown = await sendTo(ours.client, requestFor(operation, { id: crypto.randomUUID() }));
    expect(foreign.status).toBe(operation.path.includes('{') ? 404 : successOf(operation));
    if (operation.path.includes('{')) expect(foreign.text).toBe(unknown.text);
    expect(foreign.text).not.toContain('secret-');
    expect(foreign.text).not.toContain(theirs.id);
    expect(await snapshotOf(theirs)).toBe(snapshot);
  });

  test('parameters with values of another organization reveal none of its data', async () => {
    const { theirs, id, values, snapshot } = await createFullOrganization();
    const ours = await createTestOrganization(server);
    const parameters = (operation.parameters ?? []).filter(({ in: location }) => location !== 'path');
    for (const { name, in: location } of parameters) {
      for (const value of values) {
        const request = requestFor(operation, { id });
        const response = await sendTo(
          ours.client,
          location === 'query'
            ? { ...request, url: withQuery(request.url, `${name}=${encodeURIComponent(value)}`) }
            : { ...request, headers: { ...request.headers, [name]: value } },
        );
        // The message may repeat only the values sent.
        expect(response.text.replaceAll(value, '')).not.toMatch(/secret-|"description":"[^"]*secret/);
        expect(response.text.replaceAll(value, '')).not.toContain(theirs.id);
      }
    }
    expect(await snapshotOf(theirs)).toBe(snapshot);
  });

  test('an idempotency key of another organization creates a separate program for the caller', async () => {
    if (!(operation.parameters ?? []).some(({ name }) => name === 'Idempotency-Key')) return;
    const { theirs, snapshot } = await createFullOrganization();
    const ours = await createTestOrganization(server);
    const request = requestFor(operation, { id: crypto.randomUUID() });
    const response = await sendTo(ours.client, { ...request, headers: { 'Idempotency-Key': IDEMPOTENCY_KEY } });
    expect(response.status).toBe(successOf(operation));
    expect(snapshot).not.toContain(response.body.id);
    expect(await snapshotOf(theirs)).toBe(snapshot);
  });

  test('a key of another organization acts on that organization, even if the request names data of ours', async () => {
    const { theirs } = await createFullOrganization();
    const { theirs: ours, id, values, snapshot } = await createFullOrganization();
    const response = await sendTo(theirs.client, requestFor(operation, { id }));
    expect(response.status).toBe(operation.path.includes('{') ? 404 : successOf(operation));
    for (const value of values) expect(response.text).not.toContain(value);
    expect(await snapshotOf(ours)).toBe(snapshot);
  });
});

test('a cursor of another organization is refused', async () => {
  const { values } = await createFullOrganization();
  const ours = await createTestOrganization(server);
  const response = await ours.client.get(`${LIST}?limit=1&cursor=${values[2]}`);
  expect(response.status).toBe(422);
  expect(Object.keys(response.body.errors)).toEqual(['cursor']);
});
