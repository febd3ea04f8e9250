import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { createPeople } from '../../support/data/actors.ts';
import { LOCAL, untilDelivered, whileDelivering } from '../../support/data/deliveries.ts';
import { writeEvent } from '../../support/data/webhooks.ts';
import { wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';
import { type Step, useScriptedServer } from '../../support/http/scripted-server.ts';
import { until } from '../../support/wait.ts';

// From the form for an endpoint to a receiver, and back to the pages. Other tests insert what was delivered.

const dashboard = await useDashboard({ webhooks: LOCAL });
const receiver = await useScriptedServer();
const { db } = dashboard;

type Sent = { readonly body: string; readonly headers: IncomingHttpHeaders };

const responding =
  (status: number, body = ''): Step =>
  (res) =>
    void res.writeHead(status).end(body);

test('an endpoint is added, tried, sent a change twice, given another secret, and disabled by its receiver', async () => {
  const people = await createPeople(db);
  const browser = await browserOf(dashboard, people.administrator);
  const added = await browser.submit('/organization/webhooks/new', { url: `${receiver.url}/hooks` });
  const [secret = ''] = /whsec_[A-Za-z0-9+/=]+/.exec(added.text) ?? [];
  const { organizationId } = people.scope;
  const { id: endpointId } = await db.prisma.webhookEndpoint.findFirstOrThrow({ where: { organizationId } });
  const endpoint = `/organization/webhooks/${endpointId}`;
  const ids = { organizationId, endpointId };
  const lastReceived = (): Sent => receiver.received.at(-1) ?? { body: '', headers: {} };
  const verifies = (key: string) => {
    const { body, headers } = lastReceived();
    const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
      String(headers[`webhook-${name}`]),
    );
    return () =>
      new Webhook(key).verify(body, {
        'webhook-id': id ?? '',
        'webhook-timestamp': timestamp ?? '',
        'webhook-signature': signature ?? '',
      });
  };

  await whileDelivering(db, async () => {
    receiver.play(responding(200, 'tried'));
    const tried = (await browser.submit(endpoint, {}, `${endpoint}/test`)).headers['location'] ?? '';
    await untilDelivered(db, ids);
    expect(verifies(secret)()).toMatchObject({ type: 'webhook.test', data: {} });
    const test = wordsOf(await browser.get(tried));
    expect(test).toMatch(/webhook\.test .*Delivered .*200 OK .*tried/);
    for (const name of ['webhook-id', 'webhook-timestamp'])
      expect(test).toContain(`${name}: ${lastReceived().headers[name]}`);
    const [, shown = ''] = /Body (\{.*\}) Shown with/.exec(test) ?? [];
    expect(JSON.parse(shown)).toEqual(JSON.parse(lastReceived().body));

    receiver.play(responding(500, 'broken'));
    const delivery = `${endpoint}/deliveries/${await writeEvent(db, people.scope)}`;
    await until('an attempt to fail', async () => wordsOf(await browser.get(delivery)).includes('500 Internal'));
    expect(wordsOf(await browser.get(delivery))).toMatch(/Retrying Next attempt:|Being sent/);
    receiver.play(responding(204));
    // While the first retry is under way, it is refused.
    await until('the event to be sent again', async () => {
      return (await browser.submit(delivery, {}, `${delivery}/resend`)).status === 303;
    });
    await untilDelivered(db, ids);
    expect(wordsOf(await browser.get(delivery))).toMatch(/Delivered .*204 No Content .*500 Internal .*broken/);

    const rotated = await browser.submit(`${endpoint}/rotate`);
    const [next = ''] = /whsec_[A-Za-z0-9+/=]+/.exec(rotated.text) ?? [];
    receiver.play(responding(200), responding(410));
    await writeEvent(db, people.scope);
    await untilDelivered(db, ids);
    for (const key of [secret, next]) expect(verifies(key)()).toMatchObject({ type: 'parent_program.created' });

    await writeEvent(db, people.scope);
    await until('the endpoint to be disabled', async () =>
      wordsOf(await browser.get(endpoint)).includes('Its receiver responded with 410 Gone'),
    );
  });
  expect(wordsOf(await browser.get('/organization'))).toContain('1 webhook endpoint was disabled');
  expect(wordsOf(await browser.get(endpoint))).toMatch(/Last 7 days At most \d+ in one day \d+ successful \d+ failed/);
});
