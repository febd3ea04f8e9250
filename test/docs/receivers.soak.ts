// The receivers of the guide run exactly as printed, except for their port.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { secretText } from '../../src/domain/webhooks/webhook-message.ts';
import { getPackedClient, installClient, typeCheck, write } from '../support/clients/client-package.ts';
import { type Block, blocksOf } from '../support/contract/guides.ts';
import { insertEndpoint, untilDelivered, whileDelivering, writeEvents } from '../support/data/deliveries.ts';
import { type Message, messageOf, newEvent, newSecret } from '../support/data/messages.ts';
import { createTenant, useDatabase } from '../support/postgres/store.ts';
import { freePort } from '../support/servers/port.ts';
import { until } from '../support/wait.ts';

const { db } = await useDatabase();
const scratch = await installClient(await getPackedClient());
afterAll(() => scratch.remove());

const receivers = blocksOf('receiving-events.md').filter(({ options }) => options.has('receiver'));
const secret = newSecret();

test('there is one in TypeScript, in JavaScript and in Python', () => {
  expect(receivers.map(({ language }) => language)).toEqual(['ts', 'js', 'python']);
});

test('the receiver in TypeScript compiles', async () => {
  const [{ code } = { code: '' }] = receivers;
  await write(join(scratch.folder, 'compiled.ts'), code);
  // `skipLibCheck` is set, because the test of the client's README checks the client's declarations.
  expect(await typeCheck(scratch, ['compiled.ts'], { skipLibCheck: true })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
});

const COMMANDS: Readonly<Record<string, string>> = { ts: process.execPath, js: process.execPath, python: 'python3' };

async function start({ language, code }: Block, environment: Record<string, string>) {
  const port = await freePort('127.0.0.1');
  const file = join(scratch.folder, `receiver-${port}.${language}`);
  expect(code.match(/8000/g)).toHaveLength(1);
  await write(file, code.replace('8000', String(port)));
  const env = { PATH: process.env['PATH'], ...environment };
  const child = spawn(COMMANDS[language] ?? '', [file], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 });
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (printed.stdout += chunk));
  child.stderr.on('data', (chunk) => (printed.stderr += chunk));
  return { child, printed, url: `http://127.0.0.1:${port}/webhooks` };
}

async function post(url: string, { headers, body }: Message): Promise<number> {
  const type = { 'Content-Type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers: { ...type, ...headers }, body })).status;
}

function untilListening(url: string): Promise<boolean> {
  const ask = () =>
    fetch(url).then(
      () => true,
      () => null,
    );
  return until('the receiver to listen', ask);
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await ended;
}

describe.each(receivers)('the receiver in $language', (receiver) => {
  test('accepts each event of Charter, handles it once, and refuses all else', async () => {
    const { child, printed, url } = await start(receiver, { CHARTER_WEBHOOK_SECRET: secret.text });
    try {
      const event = newEvent();
      const message = messageOf(event, [secret]);
      await untilListening(url);
      const forged: readonly Message[] = [
        { ...message, body: message.body.replace('Nordic', 'Arctic') },
        { ...message, headers: { ...message.headers, 'webhook-id': newEvent().id } },
        { ...message, headers: { ...message.headers, 'webhook-signature': 'v1,' } },
        { ...message, headers: {} },
        messageOf(event, [newSecret()]),
        messageOf(event, [secret], { ageSeconds: 400 }),
        messageOf(event, [secret], { ageSeconds: -400 }),
      ];
      for (const each of forged) expect(await post(url, each)).toBe(400);
      // A second attempt of the same event, after the secret was rotated.
      expect(await post(url, message)).toBe(204);
      expect(await post(url, messageOf(event, [newSecret(), secret]))).toBe(204);
      expect(await post(url, messageOf({ ...newEvent(), type: 'webhook.test', data: {} }, [secret]))).toBe(204);
      const other = newEvent('Coastal Summer School');
      expect(await post(url, messageOf(other, [secret]))).toBe(204);
      const lines = await until('all events to be printed', () => {
        const found = printed.stdout.split('\n').map((line) => line.trimEnd());
        return found.length > 3 ? found : null;
      });
      expect(lines).toEqual([
        `${event.type} ${event.data.name}`,
        'webhook.test',
        'parent_program.updated Coastal Summer School',
        '',
      ]);
    } finally {
      await end(child);
    }
  });

  test('receives what Charter delivers', async () => {
    const { organizationId } = (await createTenant(db)).scope;
    const place = await insertEndpoint(db, organizationId, { url: 'http://127.0.0.1' });
    const { child, printed, url } = await start(receiver, { CHARTER_WEBHOOK_SECRET: secretText(place.secret) });
    try {
      await untilListening(url);
      await db.prisma.webhookEndpoint.updateMany({ where: { organizationId }, data: { url } });
      const deliveries = await whileDelivering(db, async () => {
        await writeEvents(db, organizationId);
        return untilDelivered(db, place);
      });
      expect(deliveries.map(({ state, log }) => [state, log.map(({ status }) => status)])).toEqual([
        ['succeeded', [204]],
      ]);
      await until('the event to be printed', () => printed.stdout.trimEnd() === 'parent_program.created Program 1');
    } finally {
      await end(child);
    }
  });

  // The attack: sending events, signed with an empty secret, to a receiver whose secret is not set.
  test('accepts nothing without a secret', async () => {
    const { child, url } = await start(receiver, {});
    try {
      const outcome = await until('the receiver to refuse', async () => {
        if (child.exitCode !== null) return 'ended';
        const empty = messageOf(newEvent(), [{ bytes: new Uint8Array(), text: '' }]);
        return post(url, empty).catch(() => null);
      });
      expect(['ended', 400, 500]).toContain(outcome);
    } finally {
      await end(child);
    }
  });
});
