import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import express from 'express';
import { openPublication } from '../../src/publication/routes.ts';
import { listen } from '../../src/server.ts';
import { operations } from '../support/contract/contract.ts';
import { useServer } from '../support/http/server.ts';

const GENERATED = join(import.meta.dirname, '../../generated');
const TEXTS = ['/docs', '/docs/plain.html', '/openapi.json', '/openapi.yaml', '/postman.json'];
const PATHS = [...TEXTS, '/charter-client.tgz'];
/** Shown where a host is not known. */
const EXAMPLE = 'http://127.0.0.1:3000';

const server = await useServer();

const FILES = [
  'docs/index.html',
  'docs/plain.html',
  'docs/postman.json',
  'docs/charter-client.tgz',
  'openapi.json',
  'openapi.yaml',
];

/** Writes every published file, with its name as its text. */
async function writeBuilt(folder: string): Promise<void> {
  await mkdir(join(folder, 'docs'), { recursive: true });
  for (const name of FILES) await writeFile(join(folder, name), name);
}

const OPTIONS = { setPageHeaders() {}, publicUrl: undefined };

type Sending = { method?: string; headers?: Record<string, string> };

async function send(path: string, { method = 'GET', headers = {} }: Sending = {}) {
  const response = await fetch(`${server.url}${path}`, { method, headers, redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test.each([
  ['/openapi.json', 'openapi.json', 'application/vnd.oai.openapi+json;version=3.1'],
  ['/openapi.yaml', 'openapi.yaml', 'application/vnd.oai.openapi+yaml;version=3.1'],
])('%s is the contract, byte for byte, and readable from every origin', async (path, file, type) => {
  const { status, headers, text } = await send(path, { headers: { Origin: 'https://editor.example' } });
  expect(status).toBe(200);
  expect(text).toBe(await readFile(join(GENERATED, file), 'utf8'));
  expect(headers.get('content-type')).toBe(type);
  expect(headers.get('access-control-allow-origin')).toBe('*');
});

test.each(PATHS)('%s may be cached, must be revalidated, and then gets 304 without a body', async (path) => {
  const first = await send(path);
  const entityTag = first.headers.get('etag') ?? '';
  expect(entityTag).toMatch(/^"[\w-]+"$/);
  expect(first.headers.get('cache-control')).toBe('public, no-cache');
  const again = await send(path, { headers: { 'If-None-Match': `"other", ${entityTag}` } });
  expect(again).toMatchObject({ status: 304, text: '' });
  expect(again.headers.get('etag')).toBe(entityTag);
  expect((await send(path, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
});

test.each(PATHS)('%s supports HEAD with the headers of GET, and no other method', async (path) => {
  const [got, head] = await Promise.all([send(path), send(path, { method: 'HEAD' })]);
  expect(head).toMatchObject({ status: 200, text: '' });
  const relevant = ({ headers }: { headers: Headers }) =>
    [...headers].filter(([name]) => !['date', 'connection', 'keep-alive', 'x-request-id'].includes(name));
  expect(relevant(head)).toEqual(relevant(got));
  const posted = await send(path, { method: 'POST' });
  expect(posted.status).toBe(405);
  expect(posted.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
});

test.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
] as const)(
  '%s if the client accepts it: other bytes and another ETag, and the same text',
  async (encoding, unpack) => {
    for (const path of TEXTS) {
      const plain = await send(path, { headers: { 'Accept-Encoding': 'identity' } });
      expect(plain.headers.get('content-encoding')).toBeNull();
      const packed = await new Promise<{ bytes: Buffer; encoding: unknown; tag: unknown }>((resolve, reject) => {
        get(`${server.url}${path}`, { headers: { 'Accept-Encoding': encoding }, agent: false }, (res) => {
          const chunks: Buffer[] = [];
          res.on('data', (chunk: Buffer) => chunks.push(chunk));
          res.on('end', () => {
            resolve({ bytes: Buffer.concat(chunks), encoding: res.headers['content-encoding'], tag: res.headers.etag });
          });
        }).on('error', reject);
      });
      expect(packed.encoding).toBe(encoding);
      expect(packed.tag).not.toBe(plain.headers.get('etag'));
      expect(unpack(packed.bytes).toString()).toBe(plain.text);
      expect(plain.headers.get('vary')).toBe('Accept-Encoding');
    }
  },
);

// The attack: a script injected into the page. Only the scripts of the build may run.
test.each(['/docs', '/docs/plain.html'])('%s allows only its own scripts, by hash, and loads nothing', async (path) => {
  const { headers, text } = await send(path);
  const policy = new Map(
    (headers.get('content-security-policy') ?? '').split('; ').map((directive): [string, string[]] => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources];
    }),
  );
  const scripts = [...text.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].map(([, script = '']) => script);
  const hashes = scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  expect(policy.get('script-src')).toEqual(path === '/docs' ? [...new Set(hashes)] : ["'none'"]);
  expect(policy.get('default-src')).toEqual(["'none'"]);
  expect(policy.get('frame-ancestors')).toEqual(["'none'"]);
  for (const sources of policy.values()) expect(sources.join(' ')).not.toMatch(/https?:|\*/);
});

test('every page and document has links to the documentation and the contract as RFC 8631 defines', async () => {
  for (const path of ['/', ...PATHS]) {
    const { headers } = await send(path, { headers: { Accept: 'text/html' } });
    expect(headers.get('link')).toBe('</openapi.json>; rel="service-desc", </docs>; rel="service-doc"');
  }
});

test('a method that the start page does not have gets the 404 of the contract, without these links', async () => {
  const { status, headers } = await send('/', { method: 'DELETE' });
  expect([status, headers.get('link')]).toEqual([404, null]);
});

test('the pages link to each other and to the paths of the documents on this server', async () => {
  const [docs, plain] = await Promise.all([send('/docs'), send('/docs/plain.html')]);
  expect(docs.text).toContain('<a href="/docs/plain.html">');
  const files = ['/openapi.json', '/openapi.yaml', '/postman.json', '/charter-client.tgz'];
  for (const address of files) for (const page of [docs, plain]) expect(page.text).toContain(`<a href="${address}">`);
  expect(plain.text).toContain('<a href="/docs">');
  for (const other of ['/docs/', '/docs/index.html']) {
    const { status, headers } = await send(other);
    expect([status, headers.get('location')]).toEqual([308, '/docs']);
  }
});

test('a page of another origin may send a conditional request for the document', async () => {
  const { status, headers } = await send('/openapi.json', {
    method: 'OPTIONS',
    headers: { Origin: 'https://editor.example', 'Access-Control-Request-Headers': 'if-none-match' },
  });
  expect(status).toBe(204);
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('access-control-allow-headers')).toBe('*');
  expect(headers.get('access-control-expose-headers')).toContain('ETag');
});

test('the page says how to build missing documentation, and shows it once it is built', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'charter-unbuilt-'));
  const app = express().use(openPublication(pathToFileURL(`${folder}/`)).routes(OPTIONS));
  const unbuilt = await listen(app, { host: '127.0.0.1', port: 0 });
  try {
    const missing = await fetch(`${unbuilt.url}/docs`);
    expect(missing.status).toBe(503);
    expect(missing.headers.get('cache-control')).toBe('no-store');
    expect(await missing.text()).toContain('<code>npm run docs</code>');
    await writeBuilt(folder);
    const built = await fetch(`${unbuilt.url}/docs`);
    expect([built.status, await built.text()]).toEqual([200, 'docs/index.html']);
  } finally {
    await unbuilt.stop();
    await rm(folder, { recursive: true });
  }
});

test('a file that cannot be read is a failed request, not missing documentation; it is shown once it can be read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'charter-unreadable-'));
  const failures: unknown[] = [];
  const refuse: express.ErrorRequestHandler = (error, _req, res, _next) => {
    failures.push(error);
    res.status(500).end();
  };
  // Also for root, who may read every file: a folder cannot be read as a file.
  for (const name of FILES) await mkdir(join(folder, name), { recursive: true });
  const publication = openPublication(pathToFileURL(`${folder}/`));
  await publication.prepare(EXAMPLE);
  const unreadable = await listen(express().use(publication.routes(OPTIONS)).use(refuse), {
    host: '127.0.0.1',
    port: 0,
  });
  try {
    for (const path of PATHS) expect([path, (await fetch(`${unreadable.url}${path}`)).status]).toEqual([path, 500]);
    expect(failures).toMatchObject(PATHS.map(() => ({ code: 'EISDIR' })));
    await rm(join(folder, 'docs'), { recursive: true });
    for (const name of ['openapi.json', 'openapi.yaml']) await rm(join(folder, name), { recursive: true });
    await writeBuilt(folder);
    const readable = await fetch(`${unreadable.url}/docs`);
    expect([readable.status, await readable.text()]).toEqual([200, 'docs/index.html']);
  } finally {
    await unreadable.stop();
    await rm(folder, { recursive: true });
  }
});

test('the server reads and compresses the prepared files at its start, before the first request', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'charter-prepared-'));
  await writeBuilt(folder);
  const publication = openPublication(pathToFileURL(`${folder}/`));
  const prepared = await listen(express().use(publication.routes(OPTIONS)), { host: '127.0.0.1', port: 0 });
  try {
    await publication.prepare(prepared.url);
    await rm(folder, { recursive: true });
    for (const path of PATHS) expect((await fetch(`${prepared.url}${path}`)).status).toBe(200);
  } finally {
    await prepared.stop();
  }
});

test('the pages and the collection show the address that the reader called', async () => {
  const port = new URL(server.url).port;
  for (const path of ['/docs', '/docs/plain.html', '/postman.json']) {
    const { text } = await send(path);
    const elsewhere = await sendTo(path, `charter.test:${port}`);
    expect([path, shown(text), shown(elsewhere.text)]).toEqual([path, server.url, `http://charter.test:${port}`]);
  }
  const { variable } = JSON.parse((await send('/postman.json')).text);
  expect(variable.find(({ key }: { key: string }) => key === 'base_url').value).toBe(server.url);
});

test('with PUBLIC_URL, they show that, whatever host the reader called', async () => {
  const publicUrl = 'https://charter.example.org';
  const app = express().use(openPublication().routes({ ...OPTIONS, publicUrl }));
  const own = await listen(app, { host: '127.0.0.1', port: 0 });
  try {
    for (const path of ['/docs', '/docs/plain.html', '/postman.json']) {
      const text = await (await fetch(`${own.url}${path}`)).text();
      expect([path, shown(text), text.includes(own.url)]).toEqual([path, publicUrl, false]);
    }
  } finally {
    await own.stop();
  }
});

// The attack: a Host header with markup, which a cache in front of the server could show to others.
test.each(['"><script>alert(1)</script>', 'evil host', 'evil.test/path', `${'x'.repeat(20)}:123456`])(
  'a Host that is not a host, %j, is not shown',
  async (host) => {
    const { status, text } = await sendTo('/docs/plain.html', host);
    expect([status, shown(text)]).toEqual([200, EXAMPLE]);
    expect(text.includes(host)).toBe(false);
  },
);

// The attack: a made-up Host with each request, so that the server compresses 1.5 MB for each.
test('of many made-up hosts, only a few are shown', async () => {
  const app = express().use(openPublication().routes(OPTIONS));
  const own = await listen(app, { host: '127.0.0.1', port: 0 });
  try {
    const addresses = new Set<string | undefined>();
    for (let i = 0; i < 20; i += 1)
      addresses.add(shown((await sendTo('/postman.json', `host${i}.test`, own.url)).text));
    // One more than are kept, because the first of them has been replaced once.
    expect([...addresses]).toEqual([...[0, 1, 2, 3, 4].map((i) => `http://host${i}.test`), EXAMPLE]);
  } finally {
    await own.stop();
  }
});

// The attack: every ten seconds, another made-up host takes the place of the host that was added first.
test('made-up hosts replace each other, and not the host that readers use', async () => {
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  const app = express().use(openPublication().routes(OPTIONS));
  const own = await listen(app, { host: '127.0.0.1', port: 0 });
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

test('the collection is for Postman, with a request for each operation', async () => {
  const { headers, text } = await send('/postman.json', { headers: { Origin: 'https://web.postman.example' } });
  expect(headers.get('content-type')).toBe('application/json');
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(JSON.parse(text).info.schema).toBe('https://schema.getpostman.com/json/collection/v2.1.0/collection.json');
  for (const { operationId, summary } of operations)
    expect([operationId, text]).toEqual([operationId, expect.stringContaining(summary)]);
});

test('npm reads the client from its address on the server, in the version of the contract', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'charter-npm-'));
  const options = [
    'pack',
    `${server.url}/charter-client.tgz`,
    '--json',
    '--ignore-scripts',
    '--pack-destination',
    folder,
  ];
  const { stdout } = await promisify(execFile)('npm', options, { cwd: folder });
  const { info } = JSON.parse(await readFile(join(GENERATED, 'openapi.json'), 'utf8'));
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'charter-client', version: info.version }]);
  await rm(folder, { recursive: true });
});

/** The address in the page or in the collection. */
function shown(text: string): string | undefined {
  return /<p>Server:? <code>(.+?)<\/code>|"value": "(http[^"]+)"/.exec(text)?.slice(1).join('');
}

/** With any Host header, which fetch does not send. */
function sendTo(path: string, host: string, url = server.url): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    get(`${url}${path}`, { headers: { Host: host }, agent: false }, async (res) => {
      resolve({ status: res.statusCode ?? 0, text: await textOf(res) });
    }).on('error', reject);
  });
}
