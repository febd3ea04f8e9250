// The server carries out a request, but the response is lost on its way to the client. Retries exist for this case, but a
// careless retry repeats the change.
import { type CharterClient, NetworkError } from '../../src/client/charter-client.ts';
import { createClientOn, createTestClock } from '../support/clients/charter-client.ts';
import { losesResponseOf, passesOn, useScriptedServer } from '../support/servers/scripted-server.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const PROGRAMS = '/api/parent_programs';
const PROGRAM = '/api/parent_programs/{id}';

const server = await useServer();
const network = await useScriptedServer();

async function ours(): Promise<CharterClient> {
  const { key } = await createTestOrganization(server);
  return createClientOn(createTestClock(), { baseUrl: network.url, apiKey: key });
}

async function createdBy(charter: CharterClient) {
  network.play(passesOn(server.url));
  const created = await charter.POST(PROGRAMS, { body: { name: 'First name' } });
  if (!created.ok) throw new Error(created.error.message);
  return { path: { id: created.data.id }, etag: created.headers.get('ETag') };
}

async function namesOf(charter: CharterClient): Promise<string[]> {
  network.play(passesOn(server.url));
  const names: string[] = [];
  for await (const { name } of charter.items(PROGRAMS)) names.push(name);
  return names;
}

test('a creation with a lost response happens once, and the retry gets the first response', async () => {
  const charter = await ours();
  network.play(losesResponseOf(server.url), losesResponseOf(server.url), passesOn(server.url));
  const created = await charter.POST(PROGRAMS, { body: { name: 'Only one' } });
  expect(created).toMatchObject({ status: 201, tries: 3, data: { name: 'Only one' } });
  expect(await namesOf(charter)).toEqual(['Only one']);
});

test('two calls with the same body are two creations', async () => {
  const charter = await ours();
  network.play(passesOn(server.url));
  await charter.POST(PROGRAMS, { body: { name: 'Twin' } });
  await charter.POST(PROGRAMS, { body: { name: 'Twin' } });
  expect(await namesOf(charter)).toEqual(['Twin', 'Twin']);
});

test('an update with If-Match and a lost response happens once: the retry gets 412', async () => {
  const charter = await ours();
  const { path, etag } = await createdBy(charter);
  network.play(losesResponseOf(server.url), passesOn(server.url));
  const params = { path, header: { 'If-Match': etag } };
  expect(await charter.PATCH(PROGRAM, { params, body: { name: 'Second name' } })).toMatchObject({
    status: 412,
    tries: 2,
  });
  expect(await namesOf(charter)).toEqual(['Second name']);
});

test('an update without If-Match is not retried, so that it cannot undo a later change', async () => {
  const charter = await ours();
  const { path } = await createdBy(charter);
  network.play(losesResponseOf(server.url), passesOn(server.url));
  const changing = charter.PATCH(PROGRAM, { params: { path }, body: { name: 'Second name' } });
  await expect(changing).rejects.toBeInstanceOf(NetworkError);
  expect(network.received).toHaveLength(1);
});

test('a deletion with a lost response happens once: the retry gets 404', async () => {
  const charter = await ours();
  const { path, etag } = await createdBy(charter);
  network.play(losesResponseOf(server.url), passesOn(server.url));
  const params = { path, header: { 'If-Match': etag } };
  expect(await charter.DELETE(PROGRAM, { params })).toMatchObject({ status: 404, tries: 2 });
  expect(await namesOf(charter)).toEqual([]);
});
