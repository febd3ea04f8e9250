import { checkResponse } from '../support/contract/contract.ts';
import { Client } from '../support/http/client.ts';
import { flood } from '../support/http/flood.ts';
import { parseRaw, rawRequest } from '../support/http/raw.ts';
import { beginCreate } from '../support/http/slow-create.ts';
import { useScratchDatabase } from '../support/postgres/postgres.ts';
import { organizationAt, untilStopping, withCharter } from '../support/processes/charter.ts';
import { startFile } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

const STOPS = 10;

const database = await useScratchDatabase();

function isRefused(client: Client): Promise<boolean> {
  return client.get('/api/key').then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === 'ECONNREFUSED',
  );
}

test('SIGTERM stops new requests, completes the one in flight, and exits with 0', async () => {
  await withCharter({ DATABASE_URL: database.url }, async (charter) => {
    const { key, client } = await organizationAt(database.url, charter);
    const sending = await beginCreate(charter, key);
    charter.child.kill('SIGTERM');
    await untilStopping(charter);
    // The kernel resets a connection that arrives while the listener is being closed.
    await until('connections to be refused', () => isRefused(client));
    expect(charter.child.exitCode).toBeNull();
    sending.finish();
    await sending.closed;
    const response = parseRaw(sending.received.text);
    expect(response.status).toBe(201);
    checkResponse({ method: 'POST', url: '/api/parent_programs' }, response);
    const { code, stdout, stderr } = await charter.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split('\n').at(-1)).toContain('"msg":"stopped"');
  });
});

// The attack: a client that never closes its connection keeps a stopped server running.
test('a keep-alive connection gets no further response, and does not delay the exit', async () => {
  await withCharter({ DATABASE_URL: database.url }, async (charter) => {
    const { key } = await organizationAt(database.url, charter);
    const sending = await beginCreate(charter, key);
    charter.child.kill('SIGTERM');
    await untilStopping(charter);
    sending.finish();
    await until('the response', () => sending.received.text.includes('HTTP/1.1 201'));
    expect(sending.received.text).toContain('\r\nConnection: close\r\n');
    // Node by itself would wait for the client, as long as it sends requests.
    sending.socket.write('GET /livez HTTP/1.1\r\nHost: charter.test\r\n\r\n');
    expect((await charter.ended).code).toBe(0);
    expect(sending.received.text.match(/^HTTP\/1\.1 2/gm)).toHaveLength(1);
  });
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s ends an idle server with exit code 0, also when sent twice',
  async (signal) => {
    await withCharter({ DATABASE_URL: database.url }, async (charter) => {
      await new Client(charter.url).get('/readyz');
      charter.child.kill(signal);
      charter.child.kill(signal);
      const { code, stderr } = await charter.ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    });
  },
);

test('a second SIGTERM does not abort the request in flight', async () => {
  await withCharter({ DATABASE_URL: database.url }, async (charter) => {
    const { key } = await organizationAt(database.url, charter);
    const sending = await beginCreate(charter, key);
    charter.child.kill('SIGTERM');
    await untilStopping(charter);
    charter.child.kill('SIGTERM');
    sending.finish();
    await sending.closed;
    expect(parseRaw(sending.received.text).status).toBe(201);
    expect((await charter.ended).code).toBe(0);
  });
});

// The kernel resets connections that wait for a busy process when it closes its listener.
test.each([
  ['', {}],
  [' of a server with WORKERS', { WORKERS: '2' }],
])('SIGTERM resets no connection in the accept queue%s', async (_, env) => {
  for (let i = 0; i < STOPS; i += 1) {
    await withCharter({ DATABASE_URL: database.url, ...env }, async ({ child, ended, url }) => {
      child.kill('SIGSTOP');
      const options = { connections: 64, requests: 1, text: () => rawRequest('GET /livez') };
      const { statuses, sockets } = await flood(url, options);
      child.kill('SIGTERM');
      child.kill('SIGCONT');
      expect((await ended).code).toBe(0);
      await until('all connections to be closed', () => sockets.every(({ closed }) => closed));
      expect([...statuses]).toEqual([[200, 64]]);
    });
  }
});

// kill -9 of npm and the launcher: a server that stayed would keep the port and the database.
test('it exits with 0 when its parent process ends', async () => {
  await withCharter({ DATABASE_URL: database.url }, async (charter) => {
    charter.child.disconnect();
    const { code, stdout } = await charter.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('"reason":"the parent process ended"');
  });
});

test('it exits with 0 when its parent process ends during the start', async () => {
  const running = startFile('src/main.ts', [], { DATABASE_URL: database.url, PORT: '0', NODE_ENV: 'production' });
  running.child.disconnect();
  const { code, stdout } = await running.ended;
  expect(code).toBe(0);
  expect(stdout).toContain('"reason":"the parent process ended"');
});

// The reader of the log may exit first, as when a terminal closes: after all lines, or with unread ones (ECONNRESET).
test.each([false, true])('a server without a reader of its output exits with 0 (unread: %p)', async (isUnread) => {
  await withCharter({ DATABASE_URL: database.url }, async ({ child, ended, url }) => {
    if (isUnread) {
      child.stdout?.pause();
      await Promise.all(Array.from({ length: 40 }, () => fetch(url).then((response) => response.text())));
    }
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.disconnect();
    await until('its end', () => child.exitCode !== null);
    expect((await ended).code).toBe(0);
  });
});
