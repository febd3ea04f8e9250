// How a server ends: at a signal, with its parent process, after an unexpected error, during the start, and through npm.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mintKey } from '../../src/domain/keys/api-key.ts';
import { Client, exchangeRaw, parseRaw, rawRequest } from '../support/clients/client.ts';
import { requireConformity } from '../support/contract/contract.ts';
import { Browser } from '../support/dashboard/dashboard.ts';
import { openFolder } from '../support/folder.ts';
import { useScratchDatabase, withClient, withScratchDatabase } from '../support/postgres/postgres.ts';
import {
  type Charter,
  endCharter,
  HIGH_LIMITS,
  logOf,
  organizationAt,
  SERVES,
  startCharter,
  stopUnderLoad,
  untilStopping,
  withCharter,
} from '../support/processes/charter.ts';
import { kill, preloading, type Running, startFile, startNpm, untilPrinted } from '../support/processes/process.ts';
import { listenLocally } from '../support/servers/port.ts';
import { startSmtp } from '../support/servers/smtp.ts';
import { flood } from '../support/traffic/flood.ts';
import { untilAdmitted } from '../support/traffic/load.ts';
import { length, until } from '../support/wait.ts';

const ROOT = join(import.meta.dirname, '../..');
const STOPS = length({ full: 2, figures: 20 });
/** The number of times that a server with a full accept queue is stopped. */
const QUEUES = length({ full: 3, figures: 10 });
const CLIENTS = 64;
/**
 * The number of clients of a server with workers. It is lower than CLIENTS, because several new processes need more than the
 * cores of a small machine.
 */
const CLIENTS_OF_WORKERS = 12;
/** The statuses that a creation may get. A busy machine may refuse it, but the response must be complete. */
const COMPLETE = [201, 503];
const HEARD = '\nCharter is stopping. The current step is finished first.\n';

const database = await useScratchDatabase();
const env = { DATABASE_URL: database.url };

function isRefused(client: Client): Promise<boolean> {
  return client.get('/api/key').then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === 'ECONNREFUSED',
  );
}

test('SIGTERM, also when sent twice, stops new requests, completes those in flight and the mail in transit, and exits with 0', async () => {
  await using smtp = await startSmtp({ isSlow: true });
  const mail = { SMTP_URL: smtp.url, MAIL_FROM: 'charter@example.org', PUBLIC_URL: 'http://charter.example.org' };
  await withCharter({ ...env, ...mail }, async (charter) => {
    const { key, client, email } = await organizationAt(database.url, charter);
    const [sending, kept] = [await beginCreate(charter, key), await beginCreate(charter, key)];
    // The page tells the user to check their mail, so a restart at that moment must not lose the mail.
    expect((await new Browser(charter.url).submit('/forgotten-password', { email })).status).toBe(200);
    await until('the mail to be under way', () => smtp.isAsked());
    charter.child.kill('SIGTERM');
    await untilStopping(charter);
    // The kernel resets a connection that arrives while the server stops listening.
    await until('connections to be refused', () => isRefused(client));
    charter.child.kill('SIGTERM');
    sending.finish();
    await sending.closed;
    const response = parseRaw(sending.received.text);
    expect(COMPLETE).toContain(response.status);
    requireConformity({ method: 'POST', url: '/api/parent_programs' }, response);
    // The attack: a client that never closes its connection keeps a stopping server running.
    kept.finish();
    await until('the response', () => /HTTP\/1\.1 (201|503)/.test(kept.received.text));
    // A busy server may have refused the request before the stop, with a response that keeps the connection open.
    if (kept.received.text.includes('HTTP/1.1 201')) {
      expect(kept.received.text).toContain('\r\nConnection: close\r\n');
      kept.socket.write('GET /livez HTTP/1.1\r\nHost: charter.test\r\n\r\n');
    }
    await kept.closed;
    expect(kept.received.text.match(/^HTTP\/1\.1 [25]/gm)).toHaveLength(1);

    expect({ exitCode: charter.child.exitCode, mails: smtp.mails }).toEqual({ exitCode: null, mails: [] });
    smtp.greet();
    const { code, stdout, stderr } = await charter.ended;
    // The other mail is about the key that an operator has created.
    const links = smtp.mails.filter((text) => !text.includes('API key'));
    expect({ code, stderr, links: links.length }).toEqual({ code: 0, stderr: '', links: 1 });
    expect(links[0]).toMatch(/http:\/\/charter\.example\.org\/welcome\/[\w-]{43}/);
    // The log must not contain the link, because a person who has the link can open the account.
    expect(stdout).not.toMatch(/welcome\/[\w-]{20}|could not send/);
    expect(stdout.trim().split('\n').at(-1)).toContain('"msg":"stopped"');
  });
});

test.each(['SIGINT', 'SIGHUP'] as const)(
  '%s ends an idle server with exit code 0, also when sent twice',
  async (signal) => {
    await withCharter(env, async (charter) => {
      await new Client(charter.url).get('/readyz');
      charter.child.kill(signal);
      charter.child.kill(signal);
      expect(await charter.ended).toMatchObject({ code: 0, stderr: '' });
    });
  },
);

const PATHS = [
  ...['/livez', '/readyz', '/api/key', '/api/parent_programs', '/api/nothing'],
  ...['/sign-in', '/docs', '/openapi.json', '/nothing'],
];

// A load balancer needs time to notice the stop, and its clients must not keep connections to a process that ends.
test('during DRAIN_SECONDS, /readyz returns 503, and every response is complete and says Connection: close', async () => {
  await withCharter({ ...env, DRAIN_SECONDS: '300' }, async (charter) => {
    const { key } = await organizationAt(database.url, charter);
    const client = new Client(charter.url, key);
    const before = await Promise.all(PATHS.map((path) => untilAdmitted(() => client.get(path))));
    charter.child.kill('SIGTERM');
    await until('readiness to end', async () => (await client.get('/readyz')).status === 503);
    const during = await Promise.all(
      PATHS.map((path) => {
        const send = () => getKeptAlive(charter.url, path, key);
        return path === '/readyz' ? send() : untilAdmitted(send);
      }),
    );
    expect(during.map(({ status }) => status)).toEqual(
      before.map(({ status }, i) => (PATHS[i] === '/readyz' ? 503 : status)),
    );
    expect(during.filter(({ isClosing }) => !isClosing)).toEqual([]);
    expect(await exchangeRaw(charter.url, 'what is this\r\n\r\n')).toMatch(/^Connection: close\r$/m);
  });
});

/** Sends a request on a connection that stays open. Resolves when the server has closed the connection. */
async function getKeptAlive(url: string, path: string, key: string) {
  const request = [`GET ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${key}`, 'Connection: keep-alive', '', ''];
  const [head = ''] = (await exchangeRaw(url, request.join('\r\n'))).split('\r\n\r\n');
  return { path, status: Number(head.split(' ')[1]), isClosing: /^Connection: close$/m.test(head) };
}

// When a busy process stops listening, the kernel resets the connections that have not been accepted.
test.each([
  ['', {}],
  [' of a server with WORKERS', { WORKERS: '2' }],
])('SIGTERM resets no connection in the accept queue%s', async (_, more) => {
  for (let i = 0; i < QUEUES; i += 1) {
    await withCharter({ ...env, ...more }, async ({ child, ended, url }) => {
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

// After kill -9 of npm and the launcher, a server that kept running would occupy the port and the database. The reader of the log
// may exit first, as when a terminal closes. If it leaves lines unread, writes fail with ECONNRESET.
test.each([false, true])(
  'a server without its parent and a reader of its output exits with 0 (unread: %p)',
  async (isUnread) => {
    await withCharter(env, async ({ child, ended, url }) => {
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
  },
);

describe('under load, every request gets its response, no write is lost, and the exit code is 0,', () => {
  const workers = { ...env, WORKERS: '3' };
  // The stop of a single process is tested in test/process/life.test.ts.
  test.each<[who: string, clients: number, start: (folder: string) => Promise<Charter>]>([
    ['a server with workers', CLIENTS_OF_WORKERS, () => startCharter(workers)],
    ['npm', CLIENTS, startByNpm],
    ...length<[string, number, () => Promise<Charter>][]>({
      full: [],
      figures: [['a server', CLIENTS, () => startCharter(env)]],
    }),
  ])(`when %s gets SIGTERM, times ${STOPS}`, (_, clients, start) =>
    withCommands(async (folder) => {
      for (let i = 0; i < STOPS; i += 1) await stopUnderLoad(database.url, await start(folder), clients);
    }),
  );
});

test('npm start passes SIGINT on, stays until the server has ended, and exits with 0', async () => {
  await withCommands(async (folder) => {
    const charter = await startByNpm(folder);
    const { key } = await organizationAt(database.url, charter);
    const sending = await beginCreate(charter, key);
    charter.child.kill('SIGINT');
    await untilStopping(charter);
    expect(charter.child.exitCode).toBeNull();
    sending.finish();
    const { code, stdout } = await charter.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('"msg":"stopped"');
  });
});

async function startByNpm(folder: string): Promise<Charter> {
  const running = startNpm(folder, { ...env, PORT: '0', NODE_ENV: 'production', ...HIGH_LIMITS });
  const [, url = ''] = await untilPrinted(running, SERVES);
  return { ...running, url };
}

/** Creates a folder with the commands of package.json and the launcher, but without the set-up, which would install packages. */
async function withCommands(work: (folder: string) => Promise<void>): Promise<void> {
  await using folder = await openFolder();
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  await writeFile(join(folder.path, 'package.json'), JSON.stringify({ name: 'charter', version: '0.0.0', scripts }));
  await mkdir(join(folder.path, 'scripts'));
  const launcher = pathToFileURL(join(ROOT, 'scripts/launch.mjs')).href;
  // Starts the server with this Node, as scripts/run.mjs does, because run.mjs itself may run on an older Node.
  const command = [process.execPath, ['--disable-warning=ExperimentalWarning', join(ROOT, 'src/main.ts')]];
  await writeFile(
    join(folder.path, 'scripts/run.mjs'),
    `import { launch } from ${JSON.stringify(launcher)};\nlaunch(...${JSON.stringify(command)});\n`,
  );
  await work(folder.path);
}

// The first start takes a while. If the user presses Ctrl-C, a message says immediately that the signal was received.
describe('during the start', () => {
  const untilHeard = ({ printed }: Running) => until('a word at once', () => printed.stderr === HEARD);

  /**
   * Starts a server that waits for a simulated migration of another process. Runs `meanwhile`, and ends the wait when `meanwhile`
   * has settled.
   */
  function whileStarting(meanwhile: (running: Running) => Promise<void>) {
    return withScratchDatabase(
      (url) =>
        withClient(url, async (holder) => {
          await holder.query('select pg_advisory_lock(7240113)');
          const running = startFile('src/main.ts', [], { PORT: '0', DATABASE_URL: url });
          await until('it to wait for the migrations', async () => {
            const { rows } = await holder.query(
              `select 1 from pg_stat_activity where datname = current_database() and query like '%pg_try_advisory_lock%'
               and application_name = 'charter-migrate'`,
            );
            return rows.length > 0;
          });
          await meanwhile(running);
          expect(running.child.exitCode).toBeNull();
          await holder.query('select pg_advisory_unlock(7240113)');
          const ended = await running.ended;
          const { rows } = await holder.query('select count(*)::int as organizations from organizations');
          expect(rows).toEqual([{ organizations: 0 }]);
          return ended;
        }),
      'empty',
    );
  }

  test('SIGINT is answered at once, leaves nothing incomplete, and serves no request', async () => {
    const { code, stdout, stderr } = await whileStarting(async (running) => {
      running.child.kill('SIGINT');
      await untilHeard(running);
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: HEARD });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      expect.objectContaining({ msg: 'created the tables' }),
      expect.objectContaining({ reason: 'SIGINT', msg: 'stopped' }),
    ]);
  });

  test('the end of the parent process and of the terminal has the same effect', async () => {
    const { code, stdout } = await whileStarting(async ({ child }) => {
      child.stderr?.destroy();
      child.disconnect();
    });
    expect(code).toBe(0);
    expect(stdout).toContain('"reason":"the parent process ended","msg":"stopped"');
  });

  // On a terminal, the signal also reaches the programs that set up PostgreSQL. Their failure is not an error.
  test('a failure caused by the interruption is not reported as a reason why Charter cannot start', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
    });
    const port = await listenLocally(silent);
    const running = startFile('src/main.ts', [], { DATABASE_URL: `postgresql://x:x@127.0.0.1:${port}/x`, PORT: '0' });
    try {
      await until('it to connect', () => sockets.length > 0);
      running.child.kill('SIGINT');
      await untilHeard(running);
      for (const socket of sockets) socket.destroy();
      expect(await running.ended).toEqual({ code: 0, stdout: '', stderr: HEARD });
    } finally {
      await kill(running);
      silent.close();
    }
  });
});

const SECRET = mintKey('live').key;
const faulty = (fault: string) => ({
  ...{ ...env, ...preloading('reject-on-signal.mjs') },
  ...{ CHARTER_TEST_SECRET: SECRET, CHARTER_TEST_FAULT: fault },
});

// After an unhandled error, the state of the process is undefined, so the process must end, and a supervisor can start a new
// process. But requests in progress must still be completed.
test.each(['exception', 'rejection'])(
  'after an unhandled %s, and others after it, the server completes requests, reveals no secret and exits with 1',
  async (fault) => {
    await withCharter(faulty(fault), async (charter) => {
      const { key } = await organizationAt(database.url, charter);
      const sending = await beginCreate(charter, key);
      charter.child.kill('SIGUSR2');
      await untilStopping(charter);
      charter.child.kill('SIGUSR2');
      sending.finish();
      await sending.closed;
      expect(COMPLETE).toContain(parseRaw(sending.received.text).status);
      const { code, stdout, stderr } = await charter.ended;
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /^\nCharter is stopping because of an unexpected error.*\n.*\n {2}Start Charter again \(npm start\)/,
      );
      const fatal = logOf(charter).filter(({ level }) => level === 60);
      const error = expect.stringMatching(/^Error: Planted\.[\s\S]*\n +at /);
      expect(fatal).toEqual([expect.objectContaining({ error })]);
      expect(logOf(charter).at(-1)).toMatchObject({ reason: 'an unexpected error', msg: 'stopped' });
      expect(`${stdout}${stderr}`).not.toMatch(/hunter2/);
      expect(`${stdout}${stderr}`).not.toContain(SECRET.slice(20));
    });
  },
);

// Expected network errors must not end the process.
test('clients that reset their connections at every stage end neither the process nor others', async () => {
  await withCharter(faulty('rejection'), async (charter) => {
    const { client } = await organizationAt(database.url, charter);
    await Promise.all(STAGES.map((text) => resetAfter(charter, text)));
    // A busy server may refuse a request, but serves a later one.
    await until('a success', async () => (await client.get('/api/key')).status === 200);
    await endCharter(charter); // otherwise, its exit code would be 1
    expect(logOf(charter).filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});

const STAGES = [
  '',
  'GET /liv',
  rawRequest('GET /livez'),
  rawRequest('GET /docs'),
  'garbage\r\n\r\n',
  'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n',
  `GET /docs HTTP/1.1\r\nHost: x\r\n\r\n${rawRequest('CONNECT x:443')}`,
  `${rawRequest('POST /api/parent_programs', ['Content-Length: 100'])}x`,
];

function resetAfter({ url }: Charter, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
      socket.write(text, () => socket.resetAndDestroy()),
    );
    socket.on('error', reject);
    socket.on('close', () => resolve());
  });
}

const BODY = JSON.stringify({ name: 'Sent slowly' });
const FIRST_BYTES = 5;

type SlowCreate = {
  readonly socket: Socket;
  readonly received: { text: string };
  readonly closed: Promise<void>;
  /** Sends the rest of the body. */
  finish(): void;
};

/** Sends the head and half of the body of a creation, which stays in flight until the test calls `finish`. */
async function beginCreate({ url }: { readonly url: string }, key: string): Promise<SlowCreate> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const received = { text: '' };
  socket.on('data', (chunk) => {
    received.text += chunk.toString();
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  const head = ['POST /api/parent_programs HTTP/1.1', 'Host: charter.test', `Authorization: Bearer ${key}`];
  const more = ['Content-Type: application/json', `Content-Length: ${BODY.length}`, 'Expect: 100-continue', '', ''];
  socket.write([...head, ...more].join('\r\n'));
  // Node sends 100 Continue when it passes the request to the application.
  await until('the request to be in flight', () => received.text.startsWith('HTTP/1.1 100'));
  socket.write(BODY.slice(0, FIRST_BYTES));
  return { socket, received, closed, finish: () => socket.write(BODY.slice(FIRST_BYTES)) };
}
