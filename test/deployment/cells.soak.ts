// Three cells behind HAProxy, with the configuration that the release artifact contains.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PERMISSIONS } from '../../src/domain/people/role.ts';
import { issueKeyByEmail } from '../../src/service/operator/keys.ts';
import { createOrganization } from '../../src/service/operator/organizations.ts';
import { Client } from '../support/clients/client.ts';
import { Browser } from '../support/dashboard/dashboard.ts';
import { PASSWORD } from '../support/data/accounts.ts';
import { cellOf } from '../support/data/cells.ts';
import { createTeam } from '../support/data/team.ts';
import { createScratchDatabase } from '../support/postgres/postgres.ts';
import { connectTo } from '../support/postgres/store.ts';
import { runAdminCommand } from '../support/processes/admin.ts';
import { type Charter, startCharter } from '../support/processes/charter.ts';
import { startCellsHaproxy } from '../support/processes/haproxy.ts';
import { kill } from '../support/processes/process.ts';
import { freePort } from '../support/servers/port.ts';
import { startServer, type TestServer } from '../support/servers/server.ts';
import { isLoadRefusal, untilAdmitted } from '../support/traffic/load.ts';
import { length, until } from '../support/wait.ts';

const CELLS = ['eu1', 'us1', 'ap1'] as const;
const ORGANIZATIONS = 30;
const CLIENTS = 64;
const REQUESTS = length({ full: 1000, figures: 20_000 });
const REQUESTS_OF_THE_OTHER = length({ full: 300, figures: 5000 });
const LIST = '/api/parent_programs';

test('each key reaches its cell only, a moved one its new cell; a cell that is killed or frozen fails alone, with 503', async () => {
  const databases = [await createScratchDatabase(), await createScratchDatabase(), await createScratchDatabase()];
  const ports = [await freePort('127.0.0.1'), await freePort('127.0.0.1'), await freePort('127.0.0.1')] as const;
  const cells: Charter[] = [];
  const haproxy = await (async () => {
    for (const [i, cell] of CELLS.entries()) {
      const env = {
        DATABASE_URL: databases[i]?.url ?? '',
        PORT: `${ports[i]}`,
        CHARTER_CELL: cell,
        TRUSTED_PROXIES: 'loopback',
        PUBLIC_URL: 'https://charter.example.org',
      };
      cells.push(await startCharter(env));
    }
    return startCellsHaproxy(ports);
  })();
  const folder = await mkdtemp(join(tmpdir(), 'charter-cells-'));
  try {
    const keys: { key: string; cell: number; id: string }[] = [];
    for (let i = 0; i < ORGANIZATIONS; i += 1) keys.push(await organizationIn(databases[i % 3]?.url ?? '', i));
    // Sends a request with a key. The answer is right if it has status 200 and names the organization of the key.
    const ask = async (i: number) => {
      const owner = keys[i % keys.length];
      const startedAt = performance.now();
      // On a busy machine, each cell may refuse requests because of load.
      const { status, body, headers } = await until('a response other than a refusal under load', async () => {
        const reply = await new Client(haproxy.url, owner?.key).get('/api/key');
        return !isLoadRefusal({ status: reply.status, retryAfter: reply.headers['retry-after'] }) && reply;
      });
      const isRight = status === 200 && body.organization.id === owner?.id;
      return { cell: owner?.cell ?? -1, status, isRight, headers, body, ms: performance.now() - startedAt };
    };
    type Answer = Awaited<ReturnType<typeof ask>>;
    const load = async (requests: number): Promise<Answer[]> => {
      const answers: Answer[] = [];
      let next = 0;
      const client = async () => {
        while (next < requests) answers.push(await ask(next++));
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      return answers;
    };
    const all = await load(REQUESTS);
    expect(all.filter(({ isRight }) => !isRight)).toEqual([]);
    // HAProxy sends malformed keys to any cell, which responds with 401.
    expect((await new Client(haproxy.url, 'nonsense').get(LIST)).status).toBe(401);
    expect((await new Client(haproxy.url).get(LIST)).status).toBe(401);

    const moved = keys[0];
    if (moved === undefined) throw new Error('There is no organization.');
    const [from, to] = databases;
    if (from === undefined || to === undefined) throw new Error('There are not two databases.');
    const [map, request] = [join(folder, 'moved-keys.map'), join(folder, 'reload')];
    await writeFile(map, '');
    const names = ['--to-cell', 'us1', '--map', map, '--verify-url', haproxy.url];
    // Asks the test for a reload by a file, and waits until the test has removed the file.
    const reload = ['--reload', `touch ${request} && while test -e ${request}; do sleep 0.1; done`];
    let isOver = false;
    const moving = runAdminCommand(from.url, ['move-organization', '--id', moved.id, ...names, ...reload], {
      CHARTER_CELL: 'eu1',
      MOVE_TO_DATABASE_URL: to.url,
    }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await until('a reload or the end of the command', () => isOver || existsSync(request));
      if (isOver) break;
      await haproxy.useMovedKeys(await readFile(map, 'utf8'));
      await rm(request);
    }
    expect(await moving).toMatchObject({ code: 0, stderr: expect.stringMatching(/sends moved keys to us1/) });
    expect(await ask(0)).toMatchObject({ isRight: true });
    const lines = await readFile(map, 'utf8');
    // The map names a cell for which HAProxy has no back end. If HAProxy sent the key to another cell, the response would be 401.
    await haproxy.useMovedKeys(lines.replaceAll('us1', 'zz1'));
    for (let i = 0; i < CELLS.length; i += 1) {
      const { status, headers } = await ask(0);
      expect({ status, retry: headers['retry-after'] }).toEqual({ status: 503, retry: '5' });
      // Only HAProxy logs this response, because no server has received the request.
      await until('its line', () =>
        haproxy.log().includes(`requestId=${headers['x-request-id']} method=GET status=503`),
      );
    }
    await haproxy.useMovedKeys(lines);
    moved.cell = 1;
    expect(await ask(0)).toMatchObject({ isRight: true });

    // Under load, the first cell is killed and the last cell is frozen. The second cell serves its organizations as before.
    const [first, , last] = cells;
    if (first === undefined || last === undefined) throw new Error('A cell is missing.');
    /** Runs a client for each of these organizations until the second cell has given enough answers and `isOver` returns true. */
    const loadEach = async (
      organizations: readonly number[],
      isOver: (answers: readonly Answer[]) => boolean = () => true,
    ): Promise<Answer[]> => {
      const answers: Answer[] = [];
      let ofSecond = 0;
      const client = async (organization: number) => {
        while (ofSecond < REQUESTS_OF_THE_OTHER || !isOver(answers)) {
          const answer = await ask(organization);
          if (answer.cell === 1) ofSecond += 1;
          answers.push(answer);
          // The client waits for Retry-After, as charter-client does. A client that retries at once would only measure how busy
          // this process is.
          await delay(1000 * Number(answer.headers['retry-after'] ?? 0));
        }
      };
      const clients = Array.from({ length: CLIENTS }, (_, i) => i % ORGANIZATIONS);
      await Promise.all(clients.filter((i) => organizations.includes(i)).map(client));
      return answers;
    };
    const everyone = keys.map((_, i) => i);
    // All cells share this machine's processors, so the second cell gets faster when the others fail. For comparison, the test
    // also measures the second cell alone.
    const alone = await loadEach(everyone.filter((i) => keys[i]?.cell === 1));
    const before = await loadEach(everyone);
    expect([...alone, ...before].filter(({ isRight }) => !isRight)).toEqual([]);
    const failed = new Set<number>();
    const loading = loadEach(everyone, (answers) => {
      for (const { cell, status } of answers.slice(-CLIENTS)) if (status === 503) failed.add(cell);
      return failed.size === 2;
    });
    await kill(first);
    last.child.kill('SIGSTOP');
    const during = await loading;
    const ofSecond = (answers: readonly Answer[]) => answers.filter(({ cell }) => cell === 1);
    expect(ofSecond(during).filter(({ isRight }) => !isRight)).toEqual([]);
    // Requests to the other two cells are answered as before the failure, or with the contract's 503.
    const refused = during.filter(({ isRight }) => !isRight);
    expect(new Set(refused.map(({ cell }) => cell))).toEqual(new Set([0, 2]));
    for (const { status, headers, body } of refused)
      expect({ status, retry: headers['retry-after'], message: body.message }).toEqual({
        status: 503,
        retry: '5',
        message: 'The service is temporarily unavailable. Try again in a few seconds.',
      });
    const [quiet, loaded, failing] = [p99(alone), p99(ofSecond(before)), p99(ofSecond(during))];
    console.log(
      `${all.length} requests, 0 wrong. While one cell is killed and one frozen: ${ofSecond(during).length} requests to the other, 0 failed; p99 ${failing.toFixed(0)} ms, ${(failing / loaded).toFixed(2)} times that with requests to all three cells, ${(failing / quiet).toFixed(2)} times that with requests to the other alone`,
    );
    last.child.kill('SIGCONT');
    await until('the frozen cell', async () => (await ask(2)).isRight);
  } finally {
    await haproxy.stop();
    for (const cell of cells) await kill(cell);
    for (const database of databases) await database.drop();
    await rm(folder, { recursive: true });
  }
});

function p99(answers: readonly { readonly ms: number }[]): number {
  const sorted = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}

test('people reach their cell by the common address, whichever cell answers, and their session is that of the cell', async () => {
  const ports = [await freePort('127.0.0.1'), await freePort('127.0.0.1'), await freePort('127.0.0.1')] as const;
  const hostOf = (cell: string) => `${cell}.charter.example.org`;
  const cells = CELLS.map((cell) => cellOf(cell, `The cell ${cell}`, `http://${hostOf(cell)}`));
  const folder = await mkdtemp(join(tmpdir(), 'charter-cells-'));
  const cellDomainsFile = join(folder, 'domains.map');
  const servers: TestServer[] = [];
  for (const [i, { name: cell, url: publicUrl }] of cells.entries()) {
    const common = { cells, commonUrl: 'http://charter.example.org', cellDomainsFile };
    servers.push(await startServer({ ...common, port: ports[i] ?? 0, cell, publicUrl, trustedProxies: ['loopback'] }));
  }
  const haproxy = await startCellsHaproxy(ports);
  try {
    const [, us1] = servers;
    if (us1 === undefined) throw new Error('A cell is missing.');
    const { administrator } = await createTeam(us1.db);
    await writeFile(cellDomainsFile, `${administrator.email.split('@')[1]} us1\n`);
    const at = (host: string) => new Browser(haproxy.url, { headers: { Host: host } });
    // HAProxy sends each of these requests to the next cell in turn.
    for (let i = 0; i < 10; i += 1) {
      const page = await at('charter.example.org').submit('/sign-in', { email: administrator.email });
      const url = `http://us1.charter.example.org/sign-in#email=${encodeURIComponent(administrator.email)}`;
      expect(page).toMatchObject({ status: 200, headers: { refresh: `0; url=${url}` } });
    }
    const browser = at(hostOf('us1'));
    expect(await browser.signIn(administrator.email, PASSWORD)).toMatchObject({
      status: 303,
      headers: { location: '/profile' },
    });
    for (let i = 0; i < 10; i += 1) expect((await untilAdmitted(() => browser.get('/profile'))).status).toBe(200);
    for (const host of ['charter.example.org', hostOf('eu1'), hostOf('ap1')]) {
      const other = at(host);
      for (const [name, value] of browser.cookies) other.cookies.set(name, value);
      for (let i = 0; i < 3; i += 1) expect((await other.get('/profile')).status).toBe(303);
      expect((await at(hostOf('eu1')).signIn(administrator.email, PASSWORD)).status).toBe(422);
    }
  } finally {
    await haproxy.stop();
    for (const server of servers) await server.close();
    await rm(folder, { recursive: true });
  }
});

async function organizationIn(databaseUrl: string, i: number) {
  await using db = connectTo(databaseUrl, 1);
  const email = `user-${i}@example.test`;
  const user = { email, name: `User ${i}`, role: 'administrator', passwordHash: null } as const;
  const { organizationId } = await createOrganization(db, { name: `Organization ${i}`, users: [user] });
  const request = { email, name: 'Test', permissions: PERMISSIONS, lifeDays: 30, environment: 'live' } as const;
  const { key } = await issueKeyByEmail(db, { ...request, cell: CELLS[i % 3] ?? null });
  return { key, cell: i % 3, id: organizationId };
}
