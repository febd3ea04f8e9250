import type { Reply } from '../support/clients/client.ts';
import { type Operation, operations } from '../support/contract/contract.ts';
import { requestFor, sendTo, statusOfUnknown, successOf, withQuery } from '../support/contract/every-operation.ts';
import {
  createReferences,
  createRow,
  listOf,
  lists,
  type Resource,
  resourceOf,
  resources,
  snapshotOf,
} from '../support/contract/resources.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

/** Returns an idempotency key that differs for each resource, because a used key is refused with another body. */
const idempotencyKeyOf = (operation: Operation) => `theirs-and-ours${resourceOf(operation).path}`;

const [ours, theirs] = [await createFull(), await createFull()];
const snapshot = await snapshotOf(theirs.client);

/** Creates an organization with three rows of each resource. The first row is created with an idempotency key. */
async function createFull(): Promise<TestOrganization> {
  const organization = await createTestOrganization(server);
  for (const resource of resources)
    for (let i = 0; i < 3; i += 1) await createSecret(organization, resource, { hasKey: i === 0 });
  return organization;
}

async function createSecret(
  { client }: TestOrganization,
  resource: Resource,
  { hasKey }: { hasKey: boolean },
): Promise<void> {
  const secret = `secret-${crypto.randomUUID()}`;
  const members = { name: secret, external_id: secret, description: secret, metadata: { secret } };
  if (!hasKey) return void (await createRow(client, resource, members));
  const references = await createReferences(client, resource.creation);
  const { method, url, body } = requestFor(resource.creation, { id: '', references });
  const { status } = await client.send(method, url, {
    body,
    headers: { 'Idempotency-Key': idempotencyKeyOf(resource.creation) },
  });
  // A creation that does not support idempotency keys ignores the header.
  expect(status).toBe(201);
}

/**
 * Returns the identifiers of the other organization that a request can contain: an id of a row, an external id, a cursor, and the
 * organization's own id.
 */
async function namesFor(operation: Pick<Operation, 'path'>) {
  const list = listOf(operation);
  const { body: rows } = await theirs.client.get(`${list}?limit=100`);
  const { body } = await theirs.client.get(`${list}?limit=1`);
  const { id } = body.data[0];
  const externalId = rows.data.find((row: { external_id?: string }) => row.external_id)?.external_id ?? '';
  return {
    id: String(isByOwnId(operation) ? externalId : id),
    values: [id, externalId, body.page.next_cursor, theirs.id].map(String),
  };
}

const isByOwnId = ({ path }: Pick<Operation, 'path'>) => /\/by_\w+\//.test(path);

/** Returns a valid request of our organization with the id, which may be another organization's. */
async function requestWith(operation: Operation, id: string, { client }: TestOrganization = ours) {
  return requestFor(operation, { id, references: await createReferences(client, operation) });
}

/** Returns the response without the request ID, the date and the rate limit, which differ between requests. */
function constant({ status, headers: { 'x-request-id': _, date: __, ratelimit: ___, ...headers }, text }: Reply) {
  return { status, headers, text };
}

// The attack: a request names data of another organization. New operations are included automatically.
describe.each(operations)('$operationId', (operation) => {
  test("an id of another organization gets the response of an unknown id, and that organization's data stay unseen and unchanged", async () => {
    const { id } = await namesFor(operation);
    // An upsert with this own id creates a row in the organization of the caller. The other operations must not find that row.
    const caller = operation.method === 'put' ? await createTestOrganization(server) : ours;
    const foreign = await sendTo(caller.client, await requestWith(operation, id, caller));
    expect(foreign.status).toBe(statusOfUnknown(operation));
    const unknown = await sendTo(caller.client, await requestWith(operation, crypto.randomUUID(), caller));
    if (foreign.status === 404) expect(constant(foreign)).toEqual(constant(unknown));
    const secrets = snapshot.match(/secret-[0-9a-f-]{36}/g) ?? [];
    expect(secrets.length).toBeGreaterThan(0);
    for (const secret of [...secrets, theirs.id]) expect(foreign.text.replaceAll(id, '')).not.toContain(secret);
    expect(await snapshotOf(theirs.client)).toBe(snapshot);
  });

  test('parameters with values of another organization reveal none of its data', async () => {
    const { id, values } = await namesFor(operation);
    const secrets = [...(snapshot.match(/secret-[0-9a-f-]{36}/g) ?? []), theirs.id];
    for (const { name, in: location } of operation.parameters ?? []) {
      if (location === 'path') continue;
      for (const value of values) {
        const request = await requestWith(operation, id);
        const { text } = await sendTo(
          ours.client,
          location === 'query'
            ? { ...request, url: withQuery(request.url, `${name}=${encodeURIComponent(value)}`) }
            : { ...request, headers: { ...request.headers, [name]: value } },
        );
        // The message may repeat the value that was sent, but nothing else.
        for (const secret of secrets) expect(text.replaceAll(value, '')).not.toContain(secret);
      }
    }
    expect(await snapshotOf(theirs.client)).toBe(snapshot);
  });
});

const creations = operations.filter(
  ({ parameters = [], responses }) =>
    responses[201] !== undefined && parameters.some(({ name }) => name === 'Idempotency-Key'),
);

test.each(creations)(
  '$operationId: an idempotency key of another organization creates a separate row for the caller',
  async (operation) => {
    const other = await createTestOrganization(server);
    const references = await createReferences(other.client, operation);
    const request = requestFor(operation, { id: crypto.randomUUID(), references });
    const response = await sendTo(other.client, {
      ...request,
      headers: { 'Idempotency-Key': idempotencyKeyOf(operation) },
    });
    expect(response.status).toBe(successOf(operation));
    expect(snapshot).not.toContain(response.body.id);
    expect(await snapshotOf(theirs.client)).toBe(snapshot);
  },
);

test.each(lists)('a cursor of another organization is refused on %s', async (path) => {
  const { values } = await namesFor({ path });
  const response = await ours.client.get(`${path}?limit=1&cursor=${values[2]}`);
  expect(response.status).toBe(422);
  expect(Object.keys(response.body.errors)).toEqual(['cursor']);
});
