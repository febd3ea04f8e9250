import { issueKeyByEmail } from '../../src/service/operator/keys.ts';
import { insertPrograms } from '../support/data/programs.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();
const ours = await createTestOrganization(server);
await insertPrograms(server, ours, [{ name: 'One' }, { name: 'Two' }, { name: 'Three' }]);
const cursor = (await ours.client.get('/api/parent_programs?limit=1&sort=name')).body.page.next_cursor;

const NOT_OURS =
  'is not a cursor of this list. Send next_cursor unchanged with the same sort and filters, or start again without a cursor.';
const UNREADABLE = 'is not valid. Send the next_cursor of the previous page unchanged.';

async function messagesFor(query: string, client = ours.client): Promise<unknown> {
  const response = await client.get(`/api/parent_programs?${query}`);
  expect(response.status).toBe(422);
  expect(Object.keys(response.body.errors)).toEqual(['cursor']);
  return response.body.errors.cursor;
}

test('a cursor works with the parameters of the list that returned it', async () => {
  const response = await ours.client.get(`/api/parent_programs?sort=name&cursor=${cursor}`);
  expect(response.body.data).toMatchObject([{ name: 'Three' }, { name: 'Two' }]);
});

// Attack: a forged cursor that starts at a row or a text of the attacker's choice.
test('422 for a cursor with any one character changed', async () => {
  for (const [at, character] of [...cursor].entries()) {
    const forged = `${cursor.slice(0, at)}${character === 'A' ? 'B' : 'A'}${cursor.slice(at + 1)}`;
    expect(await messagesFor(`sort=name&cursor=${forged}`)).toEqual([NOT_OURS]);
  }
});

test('422 for a cursor truncated at any position', async () => {
  for (let length = 1; length < cursor.length; length += 1) {
    expect(await messagesFor(`sort=name&cursor=${cursor.slice(0, length)}`)).toEqual([NOT_OURS]);
  }
});

test('422 for a cursor followed by more characters', async () => {
  expect(await messagesFor(`sort=name&cursor=${cursor}A`)).toEqual([NOT_OURS]);
  expect(await messagesFor(`sort=name&cursor=${cursor}AAAA`)).toEqual([NOT_OURS]);
});

// Some bits of the last base64url character may belong to no byte; a lenient decoder ignores them.
test('422 for a cursor with any other last character', async () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const others = [...alphabet].filter((character) => character !== cursor.slice(-1));
  const positionOf = (text: string) => Buffer.from(text.slice(22), 'base64url').toString('hex');
  expect(others.map((other) => positionOf(cursor.slice(0, -1) + other))).toContain(positionOf(cursor));
  for (const other of others) {
    expect(await messagesFor(`sort=name&cursor=${cursor.slice(0, -1)}${other}`)).toEqual([NOT_OURS]);
  }
});

test.each(['=', '==', '+', '%2F', '.', '%C3%A9'])('422 for a cursor followed by %s', async (tail) => {
  expect(await messagesFor(`sort=name&cursor=${cursor}${tail}`)).toEqual([UNREADABLE]);
});

test('422 for an empty cursor, and for one of 1201 characters', async () => {
  expect(await messagesFor('cursor=')).toEqual(['must not be blank.']);
  expect(await messagesFor(`cursor=${'A'.repeat(1201)}`)).toEqual([
    'must be at most 1200 characters long; it has 1201.',
  ]);
  expect(await messagesFor(`cursor=${'A'.repeat(1200)}`)).toEqual([NOT_OURS]);
});

// Attack: a cursor of another organization, to infer its names and ids from the first row of the list page.
test("422 for another organization's cursor", async () => {
  const theirs = await createTestOrganization(server);
  expect(await messagesFor(`sort=name&cursor=${cursor}`, theirs.client)).toEqual([NOT_OURS]);
});

test.each([
  ['sort=-name', 'with sort=name'],
  ['sort=created_at', 'with sort=name'],
  ['limit=1', 'with sort=name'],
  ['sort=name&search=One', 'without search'],
  ['sort=name&external_id=x', 'without external_id'],
  ['sort=name&updated_since=2020-01-01T00:00:00Z', 'without updated_since'],
])('422 for a cursor used with %s says to send it %s', async (query, remedy) => {
  const message = `belongs to another list. Send it ${remedy}, or start again without a cursor.`;
  expect(await messagesFor(`${query}&cursor=${cursor}`)).toEqual([message]);
});

test('422 for a cursor whose list differs in more than one parameter', async () => {
  expect(await messagesFor(`search=One&cursor=${cursor}`)).toEqual([NOT_OURS]);
});

// Attack: a text that moves from one filter to another because the cursor joins filters without a delimiter.
test('422 for a cursor whose search text is sent as external_id', async () => {
  const mine = await createTestOrganization(server);
  await insertPrograms(server, mine, [{ name: 'same text' }, { name: 'same text' }]);
  const { body } = await mine.client.get('/api/parent_programs?limit=1&search=same%20text');
  const query = `external_id=same%20text&cursor=${body.page.next_cursor}`;
  expect(await messagesFor(query, mine.client)).toEqual([NOT_OURS]);
});

test('a cursor still works after the row it points at is deleted', async () => {
  const mine = await createTestOrganization(server);
  await insertPrograms(server, mine, [{ name: 'a' }, { name: 'b' }]);
  const first = await mine.client.get('/api/parent_programs?limit=1&sort=name');
  await mine.client.delete(`/api/parent_programs/${first.body.data[0].id}`);
  const next = await mine.client.get(`/api/parent_programs?sort=name&cursor=${first.body.page.next_cursor}`);
  expect(next.body.data).toMatchObject([{ name: 'b' }]);
});

test('a cursor works with another key of the same organization', async () => {
  const { key } = await issueKeyByEmail(server.db, {
    email: ours.email,
    name: 'Second',
    permissions: ['parent_programs:read'],
    lifeDays: 1,
    environment: 'live',
  });
  const response = await ours.client.get(`/api/parent_programs?sort=name&cursor=${cursor}`, { key });
  expect(response.status).toBe(200);
});
