import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { Webhook as ReferenceLibrary } from 'standardwebhooks';
import { parseEvent } from '../../src/client/webhooks.ts';
import { secretText } from '../../src/domain/webhooks/webhook-message.ts';
import { sendTestEvent } from '../../src/service/webhooks/deliveries.ts';
import { webhooks } from '../support/contract/contract.ts';
import { createPeople } from '../support/data/actors.ts';
import { insertEndpoint, whileDelivering, writeEvents } from '../support/data/deliveries.ts';
import { newSecret } from '../support/data/messages.ts';
import { useDatabase } from '../support/postgres/store.ts';
import { type Received, respondsWith, useScriptedServer } from '../support/servers/scripted-server.ts';
import { until } from '../support/wait.ts';

const { db } = await useDatabase();
const receiver = await useScriptedServer();

/** Creates an organization with an endpoint, and returns the endpoint and the organization's administrator. */
async function create(secrets: { previousSecret?: Buffer; previousSecretUntil?: Date } = {}) {
  const { administrator } = await createPeople(db);
  const endpoint = await insertEndpoint(db, administrator.scope.organizationId, { url: receiver.url, ...secrets });
  return { administrator, endpoint };
}

const ajv = new Ajv2020({ allErrors: true, strict: false });
formats.default(ajv);

type Created = Awaited<ReturnType<typeof create>>;

async function deliverEach({ administrator, endpoint }: Created): Promise<readonly Received[]> {
  const { organizationId, endpointId } = endpoint;
  receiver.play(respondsWith(204));
  await whileDelivering(db, async () => {
    await writeEvents(db, organizationId);
    await db.pool.query(`update parent_programs set name = 'Größe "é" 😀' where organization_id = $1`, [
      organizationId,
    ]);
    await db.pool.query('delete from parent_programs where organization_id = $1', [organizationId]);
    await sendTestEvent(db, administrator, { endpointId });
    await until('four events', () => receiver.received.length >= 4);
  });
  return receiver.received;
}

function headersOf({ headers }: Received): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (name.startsWith('webhook-') ? [[name, String(value)]] : [])),
  );
}

test('each delivered event is one of the contract, and is verified by our client and by the reference library', async () => {
  const created = await create();
  const secret = secretText(created.endpoint.secret);
  const types: string[] = [];
  for (const received of await deliverEach(created)) {
    const headers = headersOf(received);
    const event: { id: string; type: string } = JSON.parse(received.body);
    types.push(event.type);
    expect(new ReferenceLibrary(secret).verify(received.body, headers)).toEqual(event);
    expect(await parseEvent(received.headers, received.body, secret)).toEqual(event);
    expect(headers['webhook-id']).toBe(event.id);
    const webhook = webhooks.find(({ name }) => name === event.type);
    expect(Object.keys(headers).sort()).toEqual(webhook?.parameters?.map(({ name }) => name).sort());
    for (const { name, schema } of webhook?.parameters ?? []) {
      const value = schema.type === 'integer' ? Number(headers[name]) : headers[name];
      expect({ name, value, isValid: ajv.validate(schema, value) }).toEqual({ name, value, isValid: true });
    }
    const { schema = false } = webhook?.requestBody?.content['application/json'] ?? {};
    expect({ event, isValid: ajv.validate(schema, event), errors: ajv.errors }).toMatchObject({ isValid: true });
    expect(received.headers['content-type']).toBe('application/json');
  }
  const names = webhooks.map(({ name }) => name).filter((name) => /^(parent_program|webhook)\./.test(name));
  expect(types.sort()).toEqual(names.sort());
});

test('after a rotation, a receiver with either secret verifies what is delivered', async () => {
  const previous = newSecret();
  const { administrator, endpoint } = await create({
    previousSecret: Buffer.from(previous.bytes),
    previousSecretUntil: new Date(Date.now() + 3_600_000),
  });
  receiver.play(respondsWith(204));
  await whileDelivering(db, async () => {
    await sendTestEvent(db, administrator, endpoint);
    await until('an event', () => receiver.received.length > 0);
  });
  const [received] = receiver.received;
  if (received === undefined) throw new Error('Nothing was received.');
  for (const secret of [secretText(endpoint.secret), previous.text]) {
    expect(new ReferenceLibrary(secret).verify(received.body, headersOf(received))).toMatchObject({
      type: 'webhook.test',
    });
    expect(await parseEvent(received.headers, received.body, secret)).toMatchObject({ type: 'webhook.test' });
  }
});
