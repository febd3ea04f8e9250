import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { parseEvent, type WebhookEvent } from '../../src/client/webhooks.ts';
import { SECRET_BYTES, secretText } from '../../src/domain/webhooks/webhook-message.ts';
import { webhooks } from '../support/contract/contract.ts';
import { runFile } from '../support/processes/process.ts';
import { freePort } from '../support/servers/port.ts';
import { startUpstream } from '../support/servers/scripted-server.ts';

const SECRET = secretText(randomBytes(SECRET_BYTES));

type Received = { readonly event: WebhookEvent; readonly agent: string | undefined; readonly type: string | undefined };

/** Sends the events to a receiver that verifies their signatures and responds with `respond`. */
async function sendTo(respond: (res: ServerResponse, count: number) => void, path = '/webhooks') {
  const received: Received[] = [];
  const paths: (string | undefined)[] = [];
  await using receiver = await startUpstream(async (req: IncomingMessage, res: ServerResponse) => {
    const { 'user-agent': agent, 'content-type': type } = req.headers;
    received.push({ event: await parseEvent(req.headers, await text(req), SECRET), agent, type });
    paths.push(req.url);
    respond(res, received.length);
  });
  const ended = await send(`${receiver.url}${path}`);
  return { received, paths, ended };
}

const examples = webhooks.flatMap(({ requestBody }) =>
  Object.values(requestBody?.content['application/json']?.examples ?? {}).map(({ value }) => value),
);

function send(url: string, secret = SECRET) {
  return runFile('scripts/mock/main.ts', ['--send-events', url, '--secret', secret]);
}

test('it sends each example of the webhooks once, signed, and prints what the receiver responded', async () => {
  const { received, paths, ended } = await sendTo((res) => res.writeHead(204).end(), '/webhooks?from=charter');
  expect(received.map(({ event }) => event)).toEqual(examples);
  expect(new Set(paths)).toEqual(new Set(['/webhooks?from=charter']));
  for (const { agent, type } of received) {
    expect(agent).toMatch(/^Charter\/\d+\.\d+\.\d+$/);
    expect(type).toBe('application/json');
  }
  const stdout = received.map(({ event }) => `  ${event.type}: 204 No Content\n`).join('');
  expect(ended).toEqual({ code: 0, stdout, stderr: '' });
});

test('a refusal is marked, with the body of the response; the other events are sent; it ends with 1', async () => {
  const { received, ended } = await sendTo((res, count) =>
    count === 2 ? res.writeHead(500).end('No \u001b[31mdatabase\n') : res.end('Thanks'),
  );
  expect(received).toHaveLength(examples.length);
  expect(ended.code).toBe(1);
  expect(ended.stdout.split('\n').slice(0, 2)).toEqual([
    '  parent_program.created: 200 OK: Thanks',
    '! parent_program.updated: 500 Internal Server Error: No ?[31mdatabase',
  ]);
});

test('it says that a 410 disables the endpoint, and that redirects are not followed', async () => {
  const { received, ended } = await sendTo((res, count) =>
    count === 1 ? res.writeHead(410).end() : res.writeHead(307, { Location: '/elsewhere' }).end(),
  );
  expect(received).toHaveLength(examples.length);
  expect(ended.stdout).toContain('! parent_program.created: 410 Gone. Charter would disable this endpoint.\n');
  expect(ended.stdout).toContain(
    '! parent_program.updated: 307 Temporary Redirect. Charter does not follow redirects.\n',
  );
});

test('a receiver that cannot be reached is reported once, with what to do', async () => {
  const port = await freePort('127.0.0.1');
  const ended = await send(`http://127.0.0.1:${port}/webhooks`);
  expect(ended).toEqual({
    code: 1,
    stdout: `! parent_program.created: the receiver at http://127.0.0.1:${port} cannot be reached (connect ECONNREFUSED 127.0.0.1:${port}). Start it, and check the URL.\n`,
    stderr: '',
  });
});

test('a receiver with another secret refuses the events', async () => {
  await using receiver = await startUpstream(async (req, res) => {
    const isSigned = await parseEvent(req.headers, await text(req), SECRET).then(
      () => true,
      () => false,
    );
    res.writeHead(isSigned ? 204 : 400).end();
  });
  const { code, stdout } = await send(receiver.url, secretText(randomBytes(SECRET_BYTES)));
  expect(code).toBe(1);
  expect(stdout.match(/^! .*: 400 Bad Request$/gm)).toHaveLength(examples.length);
});
