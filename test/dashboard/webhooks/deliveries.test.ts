import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { expectToSay, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, createSignedIn, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import type { People } from '../../support/data/actors.ts';
import { untilDelivered, whileDelivering } from '../../support/data/deliveries.ts';
import { type Attempt, addEndpoint, LOCAL, writeAttempts, writeEvent } from '../../support/data/webhooks.ts';
import { type Step, useScriptedServer } from '../../support/servers/scripted-server.ts';
import { until } from '../../support/wait.ts';

const dashboard = await useDashboard({ webhooks: LOCAL });
const { db } = dashboard;

const bytes = (text: string) => Uint8Array.from(Buffer.from(text));

type State = 'pending' | 'succeeded' | 'failed';

async function createDelivery(role: 'administrator' | 'manager', attempts: readonly Attempt[], state?: State) {
  const { browser, ...people } = await createSignedIn(dashboard, role);
  return { people, browser, ...(await addDelivery(people, attempts, state)) };
}

async function addDelivery(people: People, attempts: readonly Attempt[], state?: State) {
  const { id: endpointId } = await addEndpoint(db, people.administrator);
  const messageId = await writeEvent(db, people.scope, 'Nordic Business Studies');
  const { organizationId } = people.scope;
  if (attempts.length > 0) await writeAttempts(db, { organizationId, endpointId, messageId }, attempts, state);
  const endpoint = `/organization/webhooks/${endpointId}`;
  return { endpointId, messageId, endpoint, delivery: `${endpoint}/deliveries/${messageId}` };
}

const FAILED = { status: null, error: 'No response within 15 seconds.', durationMs: 15_002 };

test('the page of a delivery shows each attempt and its request, and to administrators also the body of the response', async () => {
  // The attack: a manager reads internal pages in the bodies of responses.
  const { people, browser, delivery, messageId } = await createDelivery('administrator', [
    FAILED,
    { status: 503, body: bytes('busy'), durationMs: 1234 },
    { body: bytes('thanks') },
  ]);
  const at = (await db.prisma.webhookAttempt.findFirstOrThrow({ where: { messageId, number: 3 } })).at;
  const administrator = wordsOf(await browser.get(delivery));
  const manager = wordsOf(await (await browserOf(dashboard, people.manager)).get(delivery));
  for (const words of [administrator, manager]) {
    expect(words).toMatch(/parent_program\.created .*Delivered .*Attempts 3 /);
    expect(words).toMatch(
      /3 \d+ \w{3} 20\d\d, .* 87 ms 200 OK .*1,234 ms 503 Service Unavailable .*15,002 ms No response within 15 seconds\./,
    );
    expect(words).toContain(
      `webhook-id: ${messageId} webhook-timestamp: ${Math.floor(at.getTime() / 1000)} webhook-signature: v1,…`,
    );
    expect(words).toContain('"type": "parent_program.created"');
    expect(words).toContain('"name": "Nordic Business Studies"');
  }
  expect(administrator).toMatch(/thanks .*busy/);
  expect(manager).not.toMatch(/thanks|busy/);
});

test('a response cannot change the page: markup is escaped, and control characters and cut ones are replaced', async () => {
  // The attack: a receiver responds with a script, or with characters that change the direction of text.
  const evil = `<script>alert(1)</script>\r\n\u202eevil\0\u001b[31m</pre>${'ä'.repeat(600)}`;
  const attempt = { status: 400, body: bytes(evil).subarray(0, 1024) };
  const { browser, delivery } = await createDelivery('administrator', [attempt]);
  const page = await browser.get(delivery);
  expect(page.text).not.toContain('<script>alert');
  expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;\n\ufffdevil\ufffd\ufffd[31m&lt;/pre&gt;ää');
  for (const wrong of ['\u202e', '\0', '\u001b', 'ä\ufffd']) expect(page.text).not.toContain(wrong);
  expect(wordsOf(page)).toContain('The first 1,024 bytes.');
});

test.each([
  ['pending', [], 'Waiting'],
  ['pending', [FAILED], 'Retrying Next attempt:'],
  ['succeeded', [FAILED, {}], 'Delivered'],
  ['failed', [FAILED], 'Failed No further attempt'],
] as const)('a delivery that is %s after the attempts %j is shown as "%s"', async (state, attempts, words) => {
  const { browser, endpoint, delivery } = await createDelivery('manager', attempts, state);
  for (const path of [endpoint, delivery])
    expect([path, wordsOf(await browser.get(path))]).toEqual([path, expect.stringContaining(` ${words}`)]);
});

test('a delivery whose attempt is under way, and one of a disabled endpoint, are shown as such', async () => {
  const { people, browser, endpoint, delivery, endpointId, messageId } = await createDelivery(
    'administrator',
    [FAILED],
    'pending',
  );
  const isRefreshed = async (path: string) => (await browser.get(path)).text.includes('data-refresh');
  // The next attempt is minutes away, so the script does not request the page again and again.
  expect(await isRefreshed(delivery)).toBe(false);
  const waiting = await addDelivery(people, []);
  expect(await isRefreshed(waiting.delivery)).toBe(true);
  await browser.submit(`${waiting.endpoint}/disable`);
  expect(await isRefreshed(waiting.delivery)).toBe(false);
  await browser.submit(`${endpoint}/disable`);
  for (const path of [endpoint, delivery])
    expect(wordsOf(await browser.get(path))).toContain('Waiting Until the endpoint is enabled');
  await db.prisma.webhookDelivery.updateMany({ where: { endpointId, messageId }, data: { attempts: 2 } });
  for (const path of [endpoint, delivery]) expect(wordsOf(await browser.get(path))).toContain('Being sent');
  const resent = await browser.submit(delivery, {}, `${delivery}/resend`);
  expectToSay(resent, 409, 'under way');
  // Simulates that the process that made this attempt was killed, and that the attempt's lease has expired.
  const nextAttemptAt = new Date(Date.now() - 60_000);
  await db.prisma.webhookDelivery.updateMany({ where: { endpointId, messageId }, data: { nextAttemptAt } });
  for (const path of [endpoint, delivery])
    expect(wordsOf(await browser.get(path))).toContain('Waiting Until the endpoint is enabled');
});

test('Resend makes a delivery due again, and its page says so', async () => {
  const { browser, delivery, messageId } = await createDelivery('administrator', [FAILED], 'failed');
  const response = await browser.submit(delivery, {}, `${delivery}/resend`);
  expect([response.status, response.headers['location']]).toEqual([303, `${delivery}?done=resent`]);
  const words = wordsOf(await browser.get(response.headers['location'] ?? ''));
  expect(words).toContain('The event is sent again.');
  expect(words).toContain('Retrying Next attempt: now');
  expect(await db.prisma.webhookDelivery.findFirst({ where: { messageId } })).toMatchObject({
    state: 'pending',
    failures: 0,
  });
});

test('a test event has a delivery and a page, also of a disabled endpoint', async () => {
  const { browser, endpoint } = await createDelivery('administrator', []);
  for (const turn of ['enabled', 'disabled']) {
    if (turn === 'disabled') await browser.submit(`${endpoint}/disable`);
    const { status, headers } = await browser.submit(endpoint, {}, `${endpoint}/test`);
    expect([turn, status]).toEqual([turn, 303]);
    const words = wordsOf(await browser.get(headers['location'] ?? ''));
    expect(words).toContain(turn === 'enabled' ? 'The test event is on its way.' : 'Until the endpoint is enabled');
    expect(words).toMatch(/"type": "webhook\.test", "timestamp": "20.*", "data": \{\}/);
  }
  expect(wordsOf(await browser.get(endpoint)).match(/webhook\.test/g)).toHaveLength(2);
});

test.each([
  ['test', 'The test event is on its way.'],
  ['resent', 'The event is sent again.'],
])('the notice after "%s" stands only until the attempt has ended', async (done, notice) => {
  // The bug: the notice stayed when the page already said "Delivered" or "Retrying", and returned when the page was reopened.
  const { browser, ...people } = await createSignedIn(dashboard, 'administrator');
  for (const [state, attempts, isShown] of [
    ['pending', [], true],
    ['pending', [FAILED], false],
    ['succeeded', [{}], false],
    ['failed', [FAILED], false],
  ] as const) {
    const { delivery } = await addDelivery(people, attempts, state);
    const page = wordsOf(await browser.get(`${delivery}?done=${done}`));
    expect([state, attempts, page.includes(notice)]).toEqual([state, attempts, isShown]);
  }
});

test('the deliveries of an endpoint are paged with the position in the URL', async () => {
  const { people, browser, endpoint } = await createDelivery('manager', []);
  for (let i = 0; i < 30; i += 1) await writeEvent(db, people.scope);
  const linksIn = (text: string) => [...text.matchAll(/href="([^"]*\/deliveries\/[^"]*)"/g)].map(([, href]) => href);
  const first = await browser.get(endpoint);
  expect(linksIn(first.text)).toHaveLength(25);
  const [, next = ''] = /href="([^"#]*)#deliveries" rel="next"/.exec(first.text) ?? [];
  const second = await browser.get(next);
  expect(linksIn(second.text)).toHaveLength(6);
  const [, previous = ''] = /href="([^"#]*)#deliveries" rel="prev"/.exec(second.text) ?? [];
  expect(linksIn((await browser.get(previous)).text)).toEqual(linksIn(first.text));
  expect((await browser.get(`${endpoint}?after='&before=%00`)).status).toBe(200);
});

test('the page of an endpoint without deliveries says so', async () => {
  const { browser, administrator } = await createSignedIn(dashboard, 'manager');
  const { id } = await addEndpoint(db, administrator);
  expect(wordsOf(await browser.get(`/organization/webhooks/${id}`))).toContain('Nothing was sent yet.');
});

// A whole delivery: from the form that creates the endpoint, to the receiver, to the pages that show the result. In the other
// tests, the deliveries are inserted into the database.

const receiver = await useScriptedServer();

type Sent = { readonly body: string; readonly headers: IncomingHttpHeaders };

const responding =
  (status: number, body = ''): Step =>
  (res) =>
    void res.writeHead(status).end(body);

test('an endpoint is added, tried, sent a change twice, given another secret, and disabled by its receiver', async () => {
  const { browser, ...people } = await createSignedIn(dashboard, 'administrator');
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
    // While the first retry is under way, a resend is refused.
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

test('deliveries that failed for good are listed alone, and all failed ones since a time are sent again at once', async () => {
  const { browser, people, endpointId, endpoint, messageId } = await createDelivery(
    'administrator',
    [FAILED],
    'failed',
  );
  const { organizationId } = people.scope;
  const other = await writeEvent(db, people.scope, 'Succeeded');
  await writeAttempts(db, { organizationId, endpointId, messageId: other }, [{}], 'succeeded');
  const [retried, underWay] = [
    await writeEvent(db, people.scope, 'Retried'),
    await writeEvent(db, people.scope, 'Under way'),
  ];
  const nextAttemptAt = new Date(Date.now() + 3_600_000);
  for (const messageId of [retried, underWay]) {
    await writeAttempts(db, { organizationId, endpointId, messageId }, [FAILED], 'pending');
    const attempts = messageId === underWay ? 2 : 1;
    await db.prisma.webhookDelivery.updateMany({
      where: { messageId },
      data: { nextAttemptAt, attempts, failures: 1 },
    });
  }
  const failed = await browser.get(`${endpoint}?state=failed`);
  expect([failed.text.includes(messageId), failed.text.includes(other)]).toEqual([true, false]);
  const path = `${endpoint}/resend`;
  const dayAgo = new Date(dashboard.now().getTime() - 86_400_000).toISOString().slice(0, 16);
  expect((await browser.get(path)).text).toContain(`value="${dayAgo}"`);
  const resend = (since: string) => browser.submit(path, { since });
  const minuteOf = (ms: number) => new Date(dashboard.now().getTime() + ms).toISOString().slice(0, 16);
  expectToSay(await resend('yesterday'), 422, 'Failed since, UTC must be a time such as 2026-01-31T14:05.');
  expect((await resend(minuteOf(5 * 60_000))).headers['location']).toContain('done=none-resent');
  expect((await resend(minuteOf(-5 * 60_000))).headers['location']).toContain('done=resent');
  const states = await db.prisma.webhookDelivery.findMany({ where: { endpointId }, orderBy: { messageId: 'asc' } });
  expect(states.map(({ messageId, state, failures }) => [messageId, state, failures])).toEqual([
    [messageId, 'pending', 0],
    [other, 'succeeded', 0],
    [retried, 'pending', 0],
    [underWay, 'pending', 1],
  ]);
  expect(wordsOf(await browser.get(`${endpoint}?state=failed`))).toContain('No delivery has failed for good.');
  const log = await db.prisma.auditEvent.findFirstOrThrow({ where: { organizationId, action: 'webhook.resent' } });
  expect(log.detail).toMatchObject({ endpoint: endpointId, deliveries: '2' });
  const managing = await browserOf(dashboard, people.manager);
  expect((await managing.get(`${endpoint}?state=failed`)).text).not.toContain(path);
});

test('a delivery that waits says in how many seconds the next attempt is', async () => {
  const { browser, endpoint, messageId } = await createDelivery('administrator', [FAILED], 'pending');
  const nextAttemptAt = new Date(dashboard.now().getTime() + 95_000);
  await db.prisma.webhookDelivery.updateMany({ where: { messageId }, data: { nextAttemptAt } });
  expect(wordsOf(await browser.get(endpoint))).toMatch(/Next attempt: in \d+ seconds \d+ \w+ 20\d\d, [\d:]{8} UTC/);
});
