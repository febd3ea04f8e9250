// The numbers of SQL statements in the guide "Scaling" must be those that the server sends.
import { readGuide } from '../support/contract/guides.ts';
import { recordStatements } from '../support/postgres/statements.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const LOOK_UP = 'find_keys_by_hash';
const LIST = '/api/parent_programs';

const server = await useServer();
const { client } = await createTestOrganization(server);

/** The number of statements without the look-up of the key. A transaction counts as one statement. */
type Sent = { readonly statements: number; readonly inTransactions: number };

async function statementsOf(send: () => Promise<{ status: number }>): Promise<Sent> {
  const statements = await recordStatements(server.db, async () => expect((await send()).status).toBeLessThan(300));
  const lookUps = statements.filter(({ name }) => name === LOOK_UP);
  expect(lookUps).toHaveLength(1);
  return {
    statements: statements.length - lookUps.length,
    inTransactions: statements.flatMap(({ transaction }) => transaction).length,
  };
}

/** The requests in the order of the guide's table. */
const REQUESTS: readonly (() => Promise<Sent>)[] = [
  async () => {
    await client.post(LIST, { name: 'An empty list is not kept' });
    await client.get(LIST);
    return statementsOf(() => client.get(LIST));
  },
  async () => {
    await client.post(LIST, { name: 'Changes the version' });
    return statementsOf(() => client.get(LIST));
  },
  () => statementsOf(() => client.get(`${LIST}?search=nordic&updated_since=2026-01-01T00:00:00Z`)),
  async () => {
    const { body } = await client.post(LIST, { name: 'Before' });
    const updates = await statementsOf(() => client.patch(`${LIST}/${body.id}`, { name: 'After' }));
    expect(await statementsOf(() => client.delete(`${LIST}/${body.id}`))).toEqual(updates);
    return updates;
  },
  () => statementsOf(() => client.post(LIST, { name: 'Another' })),
  () => statementsOf(() => client.post(LIST, { name: 'Once' }, { headers: { 'Idempotency-Key': 'scaling-1' } })),
];

test('each request sends the statements that the guide says', async () => {
  const told = [...readGuide('scaling.md').matchAll(/^\| .* \| (\d+) (?:transaction of (\d+) )?more \|$/gm)];
  const sent: Sent[] = [];
  for (const count of REQUESTS) sent.push(await count());
  expect(
    told.map(([, statements, inTransactions = '0']) => ({
      statements: Number(statements),
      inTransactions: Number(inTransactions),
    })),
  ).toEqual(sent);
});
