import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { mintKey } from '../../src/domain/api-key.ts';
import { Client } from '../support/http/client.ts';
import { exchangeRaw, parseRaw, rawRequest } from '../support/http/raw.ts';
import { useScratchDatabase } from '../support/postgres/postgres.ts';
import {
  type Charter,
  endCharter,
  type LogLine,
  logOf,
  organizationAt,
  untilStopping,
  withCharter,
} from '../support/processes/charter.ts';
import { type Ended, preloading } from '../support/processes/process.ts';

const database = await useScratchDatabase();

const SECRET = mintKey('live').key;
const FAULTS = ['exception', 'rejection'] as const;
/** Long enough for two requests on a busy machine. */
const DRAIN_SECONDS = '15';

const envOf = (fault: string) => ({
  DATABASE_URL: database.url,
  ...preloading('reject-on-signal.mjs'),
  CHARTER_TEST_SECRET: SECRET,
  CHARTER_TEST_FAULT: fault,
});

// The state of the process is undefined, so a supervisor must get the chance to start another one; but a client whose request
// is in progress must not suffer, and a load balancer must learn of it.
test.each(FAULTS)('after an unhandled %s, the server completes requests and exits with 1', async (fault) => {
  const { ready, status, log, ended } = await after(fault);
  expect({ ready, status, code: ended.code }).toEqual({ ready: 503, status: 200, code: 1 });
  expect(ended.stderr).toMatch(
    /^\nCharter is stopping because of an unexpected error.*\n.*\n {2}Start Charter again \(npm start\)/,
  );
  const fatal = log.filter(({ level }) => level === 60);
  expect(fatal).toEqual([expect.objectContaining({ error: expect.stringMatching(/^Error: Planted\.[\s\S]*\n +at /) })]);
  expect(log.at(-1)).toMatchObject({ reason: 'an unexpected error', msg: 'stopped' });
});

test.each(FAULTS)('an unhandled %s reveals no key and no password', async (fault) => {
  const { stdout, stderr } = (await after(fault)).ended;
  expect(stdout).toContain('Planted');
  expect(`${stdout}${stderr}`).not.toMatch(/hunter2/);
  expect(`${stdout}${stderr}`).not.toContain(SECRET.slice(20));
});

/** The statuses of /readyz and of a request after the error, and what the server printed until its end. */
type After = {
  readonly ready: number;
  readonly status: number;
  readonly log: readonly LogLine[];
  readonly ended: Ended;
};

let runs: Promise<Record<(typeof FAULTS)[number], After>> | undefined;

/** Runs one server with each fault for several tests, both at the same time, because each of them drains. */
async function after(fault: (typeof FAULTS)[number]): Promise<After> {
  runs ??= Promise.all([runUntilEnd('exception'), runUntilEnd('rejection')]).then(([exception, rejection]) => ({
    exception,
    rejection,
  }));
  return (await runs)[fault];
}

function runUntilEnd(fault: string): Promise<After> {
  return withCharter({ ...envOf(fault), DRAIN_SECONDS }, async (charter) => {
    const { key } = await organizationAt(database.url, charter);
    charter.child.kill('SIGUSR2');
    await untilStopping(charter);
    const { status: ready } = await new Client(charter.url).get('/readyz');
    const request = rawRequest('GET /api/key', [`Authorization: Bearer ${key}`]);
    const { status } = parseRaw(await exchangeRaw(charter.url, request));
    const ended = await charter.ended;
    return { ready, status, log: logOf(charter), ended };
  });
}

test('further errors during the shutdown are not logged and do not end it', async () => {
  await withCharter({ ...envOf('rejection'), DRAIN_SECONDS: '1' }, async (charter) => {
    for (let i = 0; i < 5; i += 1) {
      charter.child.kill('SIGUSR2');
      await delay(20); // signals that are pending at the same time count as one
    }
    expect((await charter.ended).code).toBe(1);
    expect(logOf(charter).filter(({ level }) => level === 60)).toHaveLength(1);
  });
});

// Expected errors of the network end nothing.
test('clients that reset their connections at every stage end neither the process nor others', async () => {
  await withCharter(envOf('rejection'), async (charter) => {
    const { client } = await organizationAt(database.url, charter);
    await Promise.all(STAGES.map((text) => resetAfter(charter, text)));
    expect((await client.get('/api/key')).status).toBe(200);
    await endCharter(charter); // its exit code would be 1
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
