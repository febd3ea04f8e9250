import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import express from 'express';
import { openPublication } from '../../src/publication/routes.ts';
import { listen } from '../support/servers/listen.ts';
import { useServer } from '../support/servers/server.ts';

const GENERATED = join(import.meta.dirname, '../../generated');
/** The address that is shown if the host is not known. */
const EXAMPLE = 'http://127.0.0.1:3000';
const OPTIONS = { setPageHeaders() {}, publicUrl: undefined };

const server = await useServer();

/** Returns the address that the page, the index or the collection shows. */
function shown(text: string): string | undefined {
  return /"canonical" href="(.+?)\/docs|<loc>(.+?)\/docs|documentation is (\S+)\.|"value": "(http[^"]+)"/
    .exec(text)
    ?.slice(1)
    .join('');
}

/** Sends a request with any Host header. `fetch` does not allow this. */
function sendTo(path: string, host: string, url = server.url): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    get(`${url}${path}`, { headers: { Host: host }, agent: false }, async (res) => {
      resolve({ status: res.statusCode ?? 0, text: await textOf(res) });
    }).on('error', reject);
  });
}

test('the pages and the collection show the address that the reader called', async () => {
  const port = new URL(server.url).port;
  for (const path of ['/docs', '/docs/all', '/llms.txt', '/sitemap.xml', '/postman.json']) {
    const text = await (await fetch(`${server.url}${path}`)).text();
    const elsewhere = await sendTo(path, `charter.test:${port}`);
    expect([path, shown(text), shown(elsewhere.text)]).toEqual([path, server.url, `http://charter.test:${port}`]);
  }
  const { variable } = JSON.parse(await (await fetch(`${server.url}/postman.json`)).text());
  expect(variable.find(({ key }: { key: string }) => key === 'base_url').value).toBe(server.url);
});

test('with PUBLIC_URL, they show that, whatever host the reader called', async () => {
  const publicUrl = 'https://charter.example.org';
  const app = express().use(openPublication().routes({ ...OPTIONS, publicUrl }));
  await using own = await listen(app);
  for (const path of ['/docs', '/docs/all', '/llms.txt', '/sitemap.xml', '/postman.json']) {
    const text = await (await fetch(`${own.url}${path}`)).text();
    expect([path, shown(text), text.includes(own.url)]).toEqual([path, publicUrl, false]);
  }
});

test('pages link to the contact for support, and say nothing of it without one', async () => {
  const supportUrl = 'https://support.example.org/?product=charter&topic="api"';
  for (const [contact, paths, link] of [
    [supportUrl, ['/docs', '/docs/all', '/docs/errors', '/docs/reference'], 'topic=&#34;api&#34;">Support</a>'],
    [supportUrl, ['/llms.txt'], `\nSupport: ${supportUrl}\n`],
    [undefined, ['/docs', '/docs/all', '/docs/errors', '/docs/reference', '/llms.txt'], null],
  ] as const) {
    const app = express().use(openPublication({ supportUrl: contact }).routes(OPTIONS));
    await using own = await listen(app);
    for (const path of paths) {
      const text = await (await fetch(`${own.url}${path}`)).text();
      expect([path, text.includes('support.invalid')]).toEqual([path, false]);
      expect([path, link === null ? !/>Support<|^Support:/m.test(text) : text.includes(link)]).toEqual([path, true]);
    }
  }
});

// The attack: a Host header with markup, which a cache in front of the server could show to others.
test.each([
  ['"><script>alert(1)</script>', 400, undefined],
  ['evil host', 400, undefined],
  ['evil.test/path', 400, undefined],
  [`${'x'.repeat(20)}:123456`, 200, EXAMPLE],
])('a Host that is not a host, %j, is not shown', async (host, status, address) => {
  const answer = await sendTo('/docs/all', host);
  expect([answer.status, shown(answer.text), answer.text.includes(host)]).toEqual([status, address, false]);
});

// The attack: another made-up Host in each request, so that the server compresses 1.5 MB for each.
test('of many made-up hosts, only a few are shown', async () => {
  const app = express().use(openPublication().routes(OPTIONS));
  await using own = await listen(app);
  const addresses = new Set<string | undefined>();
  for (let i = 0; i < 20; i += 1) addresses.add(shown((await sendTo('/postman.json', `host${i}.test`, own.url)).text));
  // One more address than the server keeps, because the first address was replaced once.
  expect([...addresses]).toEqual([...[0, 1, 2, 3, 4].map((i) => `http://host${i}.test`), EXAMPLE]);
});

// The bug: each of the first requests read and compressed the file itself.
test('of many made-up hosts that come at once, only a few are shown', async () => {
  const app = express().use(openPublication().routes(OPTIONS));
  await using own = await listen(app);
  const hosts = Array.from({ length: 20 }, (_, i) => `host${i}.test`);
  const answers = await Promise.all(hosts.map((host) => sendTo('/postman.json', host, own.url)));
  expect(answers.filter(({ text }) => shown(text) === EXAMPLE)).toHaveLength(15);
});

// The attack: every ten seconds, another made-up host replaces the host that was added first.
test('made-up hosts replace each other, and not the host that readers use', async () => {
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  const app = express().use(openPublication().routes(OPTIONS));
  const own = await listen(app);
  try {
    const addressFor = async (host: string) => shown((await sendTo('/postman.json', host, own.url)).text);
    for (let i = 0; i < 8; i += 1) {
      expect(await addressFor(`host${i}.test`)).toBe(`http://host${i}.test`);
      expect([i, await addressFor('real.test')]).toEqual([i, 'http://real.test']);
      now += 10_000;
    }
  } finally {
    clock.mockRestore();
    await own.stop();
  }
});

test('the default of base_url in the contract is the address for which the pages are built', async () => {
  const { servers } = JSON.parse(await readFile(join(GENERATED, 'openapi.json'), 'utf8'));
  expect(servers[0].variables.base_url.default).toBe(EXAMPLE);
});

const contactOf = async (supportUrl: string | undefined, method = 'GET') => {
  const routes = openPublication({ supportUrl }).routes({ ...OPTIONS, publicUrl: 'https://charter.example.org' });
  await using own = await listen(express().use(routes));
  const response = await fetch(`${own.url}/.well-known/security.txt`, { method });
  return { status: response.status, type: response.headers.get('Content-Type'), text: await response.text() };
};

test.each(['mailto:security@example.org', 'https://support.example.org/charter'])(
  'security.txt names the contact %s, and what to do with a leaked key (RFC 9116)',
  async (contact) => {
    const { status, type, text } = await contactOf(contact);
    expect([status, type]).toEqual([200, 'text/plain; charset=utf-8']);
    const fields = Object.fromEntries(
      text
        .trim()
        .split('\n')
        .map((line) => line.split(/: (.*)/)),
    );
    expect(fields).toMatchObject({
      Contact: contact,
      Canonical: 'https://charter.example.org/.well-known/security.txt',
      Policy: 'https://charter.example.org/docs/leaked-keys',
    });
    const days = (Date.parse(fields['Expires'] ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(30);
    expect(days).toBeLessThan(365);
    expect((await contactOf(contact, 'POST')).status).toBe(405);
    expect((await fetch(`${server.url}/docs/leaked-keys`)).status).toBe(200);
  },
);

test('there is no security.txt without a contact, or with one that the RFC does not allow', async () => {
  expect((await contactOf(undefined)).status).toBe(404);
  expect((await contactOf('http://support.example.org')).status).toBe(404);
});
