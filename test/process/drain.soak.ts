import { Client } from '../support/http/client.ts';
import { exchangeRaw } from '../support/http/raw.ts';
import { useScratchDatabase } from '../support/postgres/postgres.ts';
import { organizationAt, withCharter } from '../support/processes/charter.ts';
import { until } from '../support/wait.ts';

const database = await useScratchDatabase();

const PATHS = [
  '/livez',
  '/readyz',
  '/api/key',
  '/api/parent_programs',
  '/api/nothing',
  '/sign-in',
  '/docs',
  '/openapi.json',
  '/nothing',
];

// A load balancer needs time to notice, and its clients must not keep the connections of a process that ends.
test('during DRAIN_SECONDS, /readyz returns 503, and every response is complete and says Connection: close', async () => {
  await withCharter({ DATABASE_URL: database.url, DRAIN_SECONDS: '300' }, async (charter) => {
    const { key } = await organizationAt(database.url, charter);
    const client = new Client(charter.url, key);
    const before = await Promise.all(PATHS.map(async (path) => (await client.get(path)).status));
    charter.child.kill('SIGTERM');
    await until('readiness to end', async () => (await client.get('/readyz')).status === 503);
    const during = await Promise.all(PATHS.map((path) => getKeptAlive(charter.url, path, key)));
    expect(during.map(({ status }) => status)).toEqual(
      before.map((status, i) => (PATHS[i] === '/readyz' ? 503 : status)),
    );
    expect(during.filter(({ isClosing }) => !isClosing)).toEqual([]);
    expect(await exchangeRaw(charter.url, 'what is this\r\n\r\n')).toMatch(/^Connection: close\r$/m);
  });
});

/** Asks for a connection that stays open; resolves when the server has closed it. */
async function getKeptAlive(url: string, path: string, key: string) {
  const request = [`GET ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${key}`, 'Connection: keep-alive', '', ''];
  const received = await exchangeRaw(url, request.join('\r\n'));
  const [head = ''] = received.split('\r\n\r\n');
  return { path, status: Number(head.split(' ')[1]), isClosing: /^Connection: close$/m.test(head) };
}
