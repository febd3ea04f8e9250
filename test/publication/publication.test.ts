import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import express from 'express';
import { readerOf } from '../../src/publication/published-file.ts';
import { openPublication } from '../../src/publication/routes.ts';
import { operations } from '../support/contract/contract.ts';
import { openFolder } from '../support/folder.ts';
import { listen } from '../support/servers/listen.ts';
import { useServer } from '../support/servers/server.ts';

const GENERATED = join(import.meta.dirname, '../../generated');
const TEXTS = ['/docs', '/docs/all', '/docs/getting-started', '/docs/reference', '/llms.txt', '/llms-full.txt'];
TEXTS.push(
  '/sitemap.xml',
  '/robots.txt',
  '/.well-known/api-catalog',
  '/openapi.json',
  '/openapi.yaml',
  '/postman.json',
);
const PATHS = [...TEXTS, '/charter-client.tgz', '/charter-mock.tgz', '/charter-mcp.tgz'];
/** An origin for `prepare`. No request in these tests is sent to it. */
const EXAMPLE = 'http://127.0.0.1:3000';

const server = await useServer();

const PAGES = ['index.html', 'all.html', 'getting-started.html', 'reference.html'];
const FILES = [
  ...PAGES.map((name) => `docs/${name}`),
  ...['llms.txt', 'llms-full.txt', 'sitemap.xml', 'robots.txt', '.well-known/api-catalog'].map(
    (name) => `docs/${name}`,
  ),
  'docs/postman.json',
  'docs/charter-client.tgz',
  'docs/charter-mock.tgz',
  'docs/charter-mcp.tgz',
  'openapi.json',
  'openapi.yaml',
];

/** Writes every published file, with its name as its content. */
async function writeBuilt(folder: string): Promise<void> {
  await mkdir(join(folder, 'docs/.well-known'), { recursive: true });
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
      expect(plain.headers.get('vary')).toContain('Accept-Encoding');
    }
  },
);

// The attack: a script that is injected into the page. Only the scripts of the build may run.
test.each([
  ['/docs', ["'self'"]],
  ['/docs/getting-started', ["'self'"]],
  ['/docs/reference', ["'self'"]],
  ['/docs/reference/getKey', ["'self'"]],
  ['/docs/all', ["'none'"]],
])('%s allows no inline script, and loads nothing from other hosts', async (path, scripts) => {
  const { headers } = await send(path);
  const policy = new Map(
    (headers.get('content-security-policy') ?? '').split('; ').map((directive): [string, string[]] => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources];
    }),
  );
  expect(policy.get('script-src')).toEqual(scripts);
  expect(policy.get('default-src')).toEqual(["'none'"]);
  expect(policy.get('connect-src')).toEqual(path.startsWith('/docs/reference/') ? ["'self'"] : undefined);
  expect(policy.get('frame-ancestors')).toEqual(["'none'"]);
  for (const sources of policy.values()) expect(sources.join(' ')).not.toMatch(/https?:|\*/);
});

test('files whose names are hashes are kept for good, and are sent as the build compressed them', async () => {
  const { text } = await send('/docs/reference');
  const assets = [...text.matchAll(/"(\/docs\/assets\/[^"]+\.(?:js|css))"/g)].map(([, path = '']) => path);
  expect(new Set(assets).size).toBe(5);
  let bytes = 0;
  for (const path of new Set(assets)) {
    const { headers } = await send(path, { method: 'HEAD', headers: { 'Accept-Encoding': 'br' } });
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('content-encoding')).toBe('br');
    bytes += Number(headers.get('content-length'));
  }
  // Redoc alone has 519 kB.
  expect(bytes).toBeLessThan(540_000);
});

test('every page and document has links to the documentation and the contract as RFC 8631 defines', async () => {
  for (const path of PATHS)
    expect((await send(path)).headers.get('link')).toBe(
      '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"',
    );
});

test('the start page leads a browser to the dashboard, and everything else to the catalog of RFC 9727', async () => {
  const browser = await send('/', { headers: { Accept: 'text/html' } });
  expect([browser.headers.get('location'), browser.headers.get('vary')]).toEqual(['/sign-in', 'Accept']);
  expect(browser.headers.get('link')).toContain('</.well-known/api-catalog>; rel="api-catalog"');
  const program = await send('/');
  expect([program.status, program.headers.get('location')]).toEqual([303, '/.well-known/api-catalog']);
  const { headers, text } = await send('/.well-known/api-catalog');
  expect(headers.get('content-type')).toContain('application/linkset+json');
  const [{ anchor, ...links }] = JSON.parse(text).linkset;
  expect(anchor).toBe(`${server.url}/api`);
  expect(Object.keys(links)).toEqual(['service-desc', 'service-doc', 'status']);
  for (const { href } of Object.values<{ href: string }[]>(links).flat())
    expect([href, (await fetch(href)).status]).toEqual([href, 200]);
});

test('a page is also Markdown: at its own address, and for a reader who prefers it', async () => {
  for (const [path, markdown] of [
    ['/docs', '/docs/index.md'],
    ['/docs/limits', '/docs/limits.md'],
    ['/docs/reference', '/docs/reference.md'],
    ['/docs/reference/getKey', '/docs/reference/getKey.md'],
    ['/docs/all', '/llms-full.txt'],
  ] as const) {
    const asked = await send(path, { headers: { Accept: 'text/markdown, text/html;q=0.9' } });
    expect(asked.text).toBe((await send(markdown)).text);
    expect(asked.text).toMatch(/^# /);
    expect(asked.headers.get('vary')).toBe('Accept, Accept-Encoding');
    for (const accept of ['*/*', 'text/html,application/xhtml+xml,*/*;q=0.8'])
      expect((await send(path, { headers: { Accept: accept } })).text).toMatch(/^<!doctype html>/);
  }
  expect((await send('/docs/reference/listParentPrograms.md')).headers.get('content-type')).toBe(
    'text/markdown; charset=utf-8',
  );
});

// The attack: a name that leads out of the folder, or to other files that the build leaves beside the pages.
test.each([
  '/docs/nothing',
  '/docs/..%2f..%2fpackage.json',
  '/docs/.charter-docs',
  '/docs/limits/',
  // Express would throw because of the malformed percent-encoding.
  '/docs/%',
  '/docs/%E0%A4%A',
  '/docs/constructor',
  `/docs/${'x'.repeat(300)}`,
])('%s gets the 404 of the contract', async (path) => {
  const { status, text } = await send(path);
  expect([status, JSON.parse(text)]).toEqual([404, { message: expect.any(String) }]);
});

test('a method that the start page does not have gets the 404 of the contract, without these links', async () => {
  const { status, headers } = await send('/', { method: 'DELETE' });
  expect([status, headers.get('link')]).toEqual([404, null]);
});

test('the pages link to each other and to the paths of the documents on this server', async () => {
  const { text } = await send('/docs');
  for (const path of ['/docs/limits', '/docs/reference', '/openapi.json', '/openapi.yaml', '/postman.json'])
    expect(text).toContain(`<a href="${path}">`);
  for (const [old, path] of [
    ['/docs/', '/docs'],
    ['/docs/index.html', '/docs'],
    ['/docs/plain.html', '/docs/all'],
    ['/docs/limits.html', '/docs/limits'],
    ['/docs/reference/getKey.html', '/docs/reference/getKey'],
  ]) {
    const { status, headers } = await send(old ?? '');
    expect([old, status, headers.get('location')]).toEqual([old, 308, path]);
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
  await using folder = await openFolder();
  const app = express().use(openPublication({ readBuilt: readerOf(pathToFileURL(`${folder.path}/`)) }).routes(OPTIONS));
  await using unbuilt = await listen(app);
  const missing = await fetch(`${unbuilt.url}/docs`);
  expect(missing.status).toBe(503);
  expect(missing.headers.get('cache-control')).toBe('no-store');
  expect(await missing.text()).toContain('<code>npm run docs</code>');
  await writeBuilt(folder.path);
  const built = await fetch(`${unbuilt.url}/docs`);
  expect([built.status, await built.text()]).toEqual([200, 'docs/index.html']);
});

test('a file that cannot be read is a failed request, not missing documentation; it is shown once it can be read', async () => {
  await using folder = await openFolder();
  const failures: unknown[] = [];
  const refuse: express.ErrorRequestHandler = (error, _req, res, _next) => {
    failures.push(error);
    res.status(500).end();
  };
  // A folder cannot be read as a file, even by root, who may read every file.
  for (const name of FILES) await mkdir(join(folder.path, name), { recursive: true });
  const publication = openPublication({ readBuilt: readerOf(pathToFileURL(`${folder.path}/`)) });
  await publication.prepare(EXAMPLE);
  await using unreadable = await listen(express().use(publication.routes(OPTIONS)).use(refuse));
  for (const path of PATHS) expect([path, (await fetch(`${unreadable.url}${path}`)).status]).toEqual([path, 500]);
  expect(failures).toMatchObject(PATHS.map(() => ({ code: 'EISDIR' })));
  await rm(join(folder.path, 'docs'), { recursive: true });
  for (const name of ['openapi.json', 'openapi.yaml']) await rm(join(folder.path, name), { recursive: true });
  await writeBuilt(folder.path);
  const readable = await fetch(`${unreadable.url}/docs`);
  expect([readable.status, await readable.text()]).toEqual([200, 'docs/index.html']);
});

test('the server reads and compresses the prepared files at its start, before the first request', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'charter-prepared-'));
  await writeBuilt(folder);
  const publication = openPublication({ readBuilt: readerOf(pathToFileURL(`${folder}/`)) });
  await using prepared = await listen(express().use(publication.routes(OPTIONS)));
  await publication.prepare(prepared.url);
  await rm(folder, { recursive: true });
  for (const path of PATHS) expect((await fetch(`${prepared.url}${path}`)).status).toBe(200);
});

test('the collection is for Postman, with a request for each operation', async () => {
  const { headers, text } = await send('/postman.json', { headers: { Origin: 'https://web.postman.example' } });
  expect(headers.get('content-type')).toBe('application/json');
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(JSON.parse(text).info.schema).toBe('https://schema.getpostman.com/json/collection/v2.1.0/collection.json');
  for (const { operationId, summary } of operations)
    expect([operationId, text]).toEqual([operationId, expect.stringContaining(summary)]);
});

test.each(['charter-client', 'charter-mock', 'charter-mcp'])(
  'npm reads %s from the server, in the version of the contract',
  async (name) => {
    await using folder = await openFolder();
    const options = [
      'pack',
      `${server.url}/${name}.tgz`,
      '--json',
      '--ignore-scripts',
      '--pack-destination',
      folder.path,
    ];
    const { stdout } = await promisify(execFile)('npm', options, { cwd: folder.path });
    const { info } = JSON.parse(await readFile(join(GENERATED, 'openapi.json'), 'utf8'));
    expect(JSON.parse(stdout)).toMatchObject([{ name, version: info.version }]);
  },
);
