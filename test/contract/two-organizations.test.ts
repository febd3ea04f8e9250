import { type Operation, operations } from '../support/contract/contract.ts';
import { requestFor, sendTo, statusOfUnknown, successOf, withQuery } from '../support/contract/every-operation.ts';
import { createReferences, createRow, listOf, lists, resourceOf, snapshotOf } from '../support/contract/resources.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/http/server.ts';

const server = await useServer();

const LIST = '/api/parent_programs';
const IDEMPOTENCY_KEY = 'theirs-and-ours';

/** An organization with one of everything a request can name: id, external id, cursor, idempotency key. */
async function createFullOrganization(operation: Pick<Operation, 'path'>) {
  const theirs = await createTestOrganization(server);
  const { client } = theirs;
  const secrets = Array.from({ length: 3 }, () => `secret-${crypto.randomUUID()}`);
  for (const [i, secret] of secrets.entries()) {
    await client.post(
      LIST,
      { name: secret, external_id: secret, description: secret, metadata: { secret } },
      { headers: { 'Idempotency-Key': i === 0 ? IDEMPOTENCY_KEY : secret } },
    );
  }
  const resource = resourceOf(operation);
  for (const name of secrets) await createRow(client, resource, { name });
  const page = (await client.get(`${listOf(operation)}?limit=1`)).body;
  const { id }: { id: string } = page.data[0];
  const values = [id, secrets[0] ?? '', page.page.next_cursor, theirs.id];
  return { theirs, id, values, snapshot: await snapshotOf(client) };
}

/** A valid request of ours, to which the id belongs or not. */
async function requestWith({ client }: TestOrganization, operation: Operation, id: string) {
  return requestFor(operation, { id, references: await createReferences(client, operation) });
}

// Includes every future operation. The attack: a request that names data of another organization.
describe.each(operations.map((operation) => [operation.operationId, operation] as const))('%s', (_, operation) => {
  test("an id of another organization gets the response of an unknown id, and that organization's data stays unchanged", async () => {
    const { theirs, id, snapshot } = await createFullOrganization(operation);
    const ours = await createTestOrganization(server);
    const foreign = await sendTo(ours.client, await requestWith(ours, operation, id));
    const unknown = await sendTo(ours.client, await requestWith(ours, operation, crypto.randomUUID()));
    expect(foreign.status).toBe(statusOfUnknown(operation));
    if (foreign.status === 404) expect(foreign.text).toBe(unknown.text);
    expect(foreign.text).not.toContain('secret-');
    expect(foreign.text).not.toContain(theirs.id);
    expect(await snapshotOf(theirs.client)).toBe(snapshot);
  });

  test('parameters with values of another organization reveal none of its data', async () => {
    const { theirs, id, values, snapshot } = await createFullOrganization(operation);
    const ours = await createTestOrganization(server);
    const parameters = (operation.parameters ?? []).filter(({ in: location }) => location !== 'path');
    for (const { name, in: location } of parameters) {
      for (const value of values) {
        const request = await requestWith(ours, operation, id);
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
    expect(await snapshotOf(theirs.client)).toBe(snapshot);
  });

  test('a key of another organization acts on that organization, even if the request names data of ours', async () => {
    const { theirs } = await createFullOrganization(operation);
    const { theirs: ours, id, values, snapshot } = await createFullOrganization(operation);
    const request = await requestWith(theirs, operation, id);
    const response = await sendTo(theirs.client, request);
    expect(response.status).toBe(statusOfUnknown(operation));
    // It may repeat what was sent.
    for (const value of values) if (!request.url.includes(value)) expect(response.text).not.toContain(value);
    expect(await snapshotOf(ours.client)).toBe(snapshot);
  });
});

const creations = operations.filter(
  ({ parameters = [], responses }) =>
    responses[201] !== undefined && parameters.some(({ name }) => name === 'Idempotency-Key'),
);

test.each(creations)(
  '$operationId: an idempotency key of another organization creates a separate row for the caller',
  async (operation) => {
    const { theirs, snapshot } = await createFullOrganization(operation);
    const ours = await createTestOrganization(server);
    const request = await requestWith(ours, operation, crypto.randomUUID());
    const response = await sendTo(ours.client, { ...request, headers: { 'Idempotency-Key': IDEMPOTENCY_KEY } });
    expect(response.status).toBe(successOf(operation));
    expect(snapshot).not.toContain(response.body.id);
    expect(await snapshotOf(theirs.client)).toBe(snapshot);
  },
);

test.each(lists)('a cursor of another organization is refused on %s', async (path) => {
  const { values } = await createFullOrganization({ path });
  const ours = await createTestOrganization(server);
  const response = await ours.client.get(`${path}?limit=1&cursor=${values[2]}`);
  expect(response.status).toBe(422);
  expect(Object.keys(response.body.errors)).toEqual(['cursor']);
});
