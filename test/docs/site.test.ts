import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { readSource } from '../../scripts/docs/guides.ts';
import { partsOf } from '../../scripts/docs/parts.ts';
import {
  IN_MARKDOWN,
  ON_ONE_PAGE,
  ON_PAGES,
  operationPlace,
  type Places,
  withLinks,
} from '../../scripts/docs/places.ts';
import { readSite } from '../../scripts/docs/site.ts';
import { plain } from '../../scripts/docs/text.ts';
import { docsSources } from '../../scripts/stamps.mjs';
import { contract, source } from '../support/browser/docs.ts';
import { openFolder } from '../support/folder.ts';
import { runFile } from '../support/processes/process.ts';

const ROOT = join(import.meta.dirname, '../..');
const BUILT = join(ROOT, 'generated/docs');

const built = await readdir(BUILT, { recursive: true });
const pages = built.filter((name) => name.endsWith('.html') && name !== 'plain.html');
const read = (name: string) => readFile(join(BUILT, name), 'utf8');

test('each guide is a page with its own title, description and address, and small with style and script', async () => {
  const ofAll: string[] = [];
  for (const { slug, title } of source.guides) {
    const page = await read(`${slug}.html`);
    expect(page).toContain(`<title>${title} - Charter</title>`);
    const parts = [/<meta name="description" content="(.+?)">/, /<link rel="canonical" href="(.+?)">/].map(
      (pattern) => pattern.exec(page)?.[1] ?? '',
    );
    ofAll.push(...parts);
    expect(parts[1]).toBe(`http://127.0.0.1:3000/docs/${slug}`);
    expect(page).toContain(`<link rel="alternate" type="text/markdown" href="${slug}.md">`);
    const shared = [...page.matchAll(/(?:href|src)="(assets\/site\.[^"]+)"/g)].map(([, name = '']) => name);
    expect(shared).toHaveLength(2);
    const texts = await Promise.all([`${slug}.html`, ...shared].map(read));
    const kilobytes = texts.map((text) => brotliCompressSync(text).length / 1000);
    expect(kilobytes.reduce((sum, each) => sum + each)).toBeLessThan(60);
  }
  expect(new Set(ofAll).size).toBe(ofAll.length);
});

test('a change of any guide makes the documentation stale', () => {
  const files = source.guides.map(({ file }) => file).filter((file) => file !== 'openapi/openapi.yaml');
  expect(docsSources()).toEqual(expect.arrayContaining(files));
});

test('every link of every page has a target among the files, and no page loads anything from another host', async () => {
  const ids = new Map<string, Set<string>>();
  for (const name of pages) {
    const own = [...(await read(name)).matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
    ids.set(name, new Set(own));
    expect([name, own.filter((id, i) => own.indexOf(id) !== i)]).toEqual([name, []]);
  }
  // Redoc creates these ids in the browser.
  for (const each of [...contract.operations, ...contract.webhooks])
    ids.get('reference.html')?.add(operationPlace(each));
  for (const name of pages) {
    const page = await read(name);
    const links = [...page.matchAll(/(href|src|data-redoc)="([^"]*)"/g)];
    const isPresent = (link: string) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? name : join(name, '..', file);
      return built.includes(target) && (anchor === undefined || ids.get(target)?.has(anchor) === true);
    };
    const own = links.map(([, , link = '']) => link).filter((link) => !/^(https?|mailto):/.test(link));
    expect([name, own.filter((link) => !isPresent(link))]).toEqual([name, []]);
    expect([name, /(src="|url\()https?:/.exec(page)]).toEqual([name, null]);
    expect([name, /<script(?![^>]* src=)(?! type="application\/json")| style="/.exec(page)]).toEqual([name, null]);
  }
});

test('each operation has a small page with an anchor for every parameter, field, header, status and example', async () => {
  for (const each of [...contract.operations, ...contract.webhooks]) {
    const page = await read(`reference/${each.operationId}.html`);
    const missing = partsOf(each, contract.schemas).filter(({ anchor }) => !page.includes(` id="${anchor}"`));
    expect([each.operationId, missing]).toEqual([each.operationId, []]);
    expect(brotliCompressSync(page).length).toBeLessThan(10_000);
  }
  const anchors = new Set(
    contract.operations.flatMap((each) => partsOf(each, contract.schemas).map(({ anchor }) => anchor)),
  );
  for (const anchor of [
    'query-limit',
    'header-if-match',
    'body-changes-external_id',
    'response-data-metadata',
    'response-header-etag',
    'status-422',
    'example-401-rotated_key',
  ])
    expect([anchor, anchors.has(anchor)]).toEqual([anchor, true]);
});

test('the page that holds everything has every guide, operation, webhook, response and schema', async () => {
  const page = await read('all.html');
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const ofGuides = source.guides.flatMap(({ slug, headings }) => [
    `/${slug}`,
    ...headings.map(({ anchor }) => `/${slug}/${anchor}`),
  ]);
  expect(ofGuides.filter((id) => !ids.includes(id))).toEqual([]);
  for (const each of [...contract.operations, ...contract.webhooks]) {
    const place = operationPlace(each);
    const shown = ids.filter((id) => id.startsWith(`${place}/`)).map((id) => id.slice(place.length + 1));
    expect([place, ids.includes(place)]).toEqual([place, true]);
    for (const status of Object.keys(each.responses))
      expect([place, status, shown.some((id) => id.startsWith(status.toLowerCase()))]).toEqual([place, status, true]);
  }
  expect(ids).toEqual(expect.arrayContaining(Object.keys(contract.schemas).map((name) => `/schemas/${name}`)));
});

/** Questions to a program that reads only llms.txt, and the sentences that answer them. */
const QUESTIONS: readonly (readonly [question: string, link: string, answer: string])[] = [
  ['Which header carries the key?', 'Authentication', 'Authorization: Bearer'],
  ['How do I get a key?', 'Issuing a key', 'Copy the key immediately'],
  ['What ends when I rotate a key?', 'Rotating and revoking', 'the previous key no longer works'],
  ['What was leaked, what now?', 'Rotating and revoking', 'leaked'],
  ['How many requests may a key send?', 'Limits', '500 per second'],
  ['What do I do after a 429?', 'Limits', 'Retry-After'],
  ['How do I get the next page?', 'Pages, filters and sorting', 'next_cursor'],
  ['Which parameter searches names?', 'List parent programs', 'search'],
  ['How large may a page be?', 'List parent programs', '1 to 100'],
  ['What does a 422 contain?', 'Errors', 'an array of messages for each field'],
  ['May I repeat a creation?', 'Retries and idempotency', 'Idempotency-Key'],
  ['How long does the server keep an idempotency key?', 'Create a parent program', 'For 24 hours'],
  ['How do I avoid a lost update?', 'Conditional requests', 'If-Match'],
  ['How do I see deletions?', 'Following changes', 'parent_program.deleted'],
  ['How do I check the signature of a webhook?', 'Receiving events', 'HMAC-SHA256'],
  ['Which headers has a webhook?', 'A parent program was created', 'webhook-signature'],
  ['How do I develop without a server?', 'Mock server', 'npm run mock'],
  ['What may change without notice?', 'Versioning', 'additions'],
  ['How do I call it from a browser?', 'Browsers and apps', 'CORS'],
  ['Which permission lets me delete?', 'Delete a parent program', 'parent_programs:write'],
];

test('the links of llms.txt lead an agent to the answers', async () => {
  const index = await read('llms.txt');
  const links = new Map([...index.matchAll(/^- \[(.+?)\]\((.+?)\)/gm)].map(([, title = '', url = '']) => [title, url]));
  const answered: unknown[] = [];
  for (const [question, link, answer] of QUESTIONS) {
    const name = links.get(link)?.replace('http://127.0.0.1:3000/docs/', '');
    const text = name === undefined ? '' : (await read(name)).replace(/\s+/g, ' ');
    answered.push([question, link, text.includes(answer) ? answer : null]);
  }
  expect(answered).toEqual(QUESTIONS);
  const summaries = [...index.matchAll(/^- \[(.+?)\]\(.+?\): (.+)$/gm)].filter(([, title]) =>
    source.guides.some((guide) => guide.title === title),
  );
  expect(summaries).toHaveLength(source.guides.length);
  expect(summaries.filter(([, , summary = '']) => !/\.$/.test(summary) || /\. \p{Ll}/u.test(summary))).toEqual([]);
  const full = await read('llms-full.txt');
  const inFull = source.guides.filter(({ title }) => full.includes(`# ${title}\n`));
  const forPeople = ['Use the dashboard', 'Operate', 'About the API'];
  expect(inFull).toEqual(source.guides.filter(({ group }) => !forPeople.includes(group)));
  for (const { operationId, summary } of contract.operations)
    expect([operationId, full.includes(`# ${summary}\n`), links.has(summary)]).toEqual([operationId, true, true]);
});

test('the links of every Markdown file have a target, and no label for the tests remains', async () => {
  const names = built.filter((name) => name.endsWith('.md'));
  expect(names.length).toBe(source.guides.length + contract.operations.length + contract.webhooks.length + 4);
  for (const name of names) {
    const text = await read(name);
    expect([name, /^ *```\w+ .*/m.exec(text)]).toEqual([name, null]);
    const targets = [...text.matchAll(/(?<!`)\]\(([^()\s#:]+)(?:#[^()\s]*)?\)/g)].map(([, to = '']) =>
      join(name, '..', to),
    );
    expect([name, targets.filter((to) => !built.includes(to))]).toEqual([name, []]);
  }
});

describe('with other guides', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'charter-guides-'));
    await mkdir(join(root, 'openapi/guides/images'), { recursive: true });
  });
  afterEach(() => rm(root, { recursive: true }));

  async function write(files: Readonly<Record<string, string>>): Promise<void> {
    const list = Object.keys(files).filter((name) => name.endsWith('.md'));
    const all = { 'guides.yaml': list.map((name) => `- ${name}\n`).join(''), ...files };
    for (const [name, text] of Object.entries(all)) await writeFile(join(root, 'openapi/guides', name), text);
  }

  async function shown(slug: string, places: Places = ON_PAGES): Promise<string> {
    const own = await readSource(root, contract);
    const guide = own.guides.find((each) => each.slug === slug);
    if (guide === undefined) throw new Error(`There is no ${slug}.`);
    return withLinks(guide, own, places).trim();
  }

  test('guides appear in the order of the list, with their titles and groups', async () => {
    const list = 'First things:\n- b.md\n# no group\nLater:\n- a.md\n';
    await write({ 'b.md': '# Second first\n\nText.\n', 'a.md': '# Then this\n', 'guides.yaml': list });
    const { guides } = await readSource(root, contract);
    expect(guides.map(({ group, slug, title }) => `${group}, ${slug}: ${title}`)).toEqual([
      'First things, b: Second first',
      'Later, a: Then this',
      'Reference, conventions: Conventions',
    ]);
  });

  test('links lead to guides, headings, operations and other hosts, in each form of the documentation', async () => {
    await write({
      'a.md':
        '# A\n\nSee [the\nother](b.md), [part](b.md#the-part) and\n[here](#down).\n\n## Down\n\n[Call](operation:getKey), [RFC](https://www.rfc-editor.org/rfc/rfc6750).\n\n[x]: b.md#the-part\n',
      'b.md': '# B\n\n## The `part`\n',
    });
    const targets = async (places: Places) =>
      [...(await shown('a', places)).matchAll(/\]\((.+?)\)|\]: (.+)/g)].map(([, a, b]) => a ?? b);
    const rfc = 'https://www.rfc-editor.org/rfc/rfc6750';
    expect(await targets(ON_PAGES)).toEqual([
      'b.html',
      'b.html#the-part',
      'a.html#down',
      'reference/getKey.html',
      rfc,
      'b.html#the-part',
    ]);
    expect(await targets(ON_ONE_PAGE)).toEqual([
      '#/b',
      '#/b/the-part',
      '#/a/down',
      '#/key/getkey',
      rfc,
      '#/b/the-part',
    ]);
    expect(await targets(IN_MARKDOWN)).toEqual([
      'b.md',
      'b.md#the-part',
      'a.md#down',
      'reference/getKey.md',
      rfc,
      'b.md#the-part',
    ]);
  });

  test('the content of code is not read as a link or a heading', async () => {
    const code = '```md\n# No title\n[x](nowhere.md)\n```\n\nAnd `[y](nowhere.md)`, ``a ` [z](nowhere.md)``.';
    await write({ 'a.md': `# A\n\n${code}\n` });
    expect(await shown('a')).toBe(code);
  });

  test('headings with the same text have different anchors, as on GitHub', async () => {
    await write({ 'a.md': '# A\n\n## 409 `Conflict`: what?\n\n## Again\n\n## Again\n' });
    const [guide] = (await readSource(root, contract)).guides;
    expect(guide?.headings.map(({ anchor }) => anchor)).toEqual(['409-conflict-what', 'again', 'again-1']);
  });

  test.each([
    ['a link to nowhere', { 'a.md': '# A\n\nOne\n[two](c.md).\n' }, 'openapi/guides/a.md:4  The link to "c.md"'],
    ['a missing heading', { 'a.md': '# A\n\n[x](#no)\n' }, 'openapi/guides/a.md:3  The link to "#no"'],
    ['an unknown operation', { 'a.md': '# A\n[x](operation:no)\n' }, 'openapi/guides/a.md:2  The link to'],
    ['a missing picture', { 'a.md': '# A\n\n![x](images/no.png)\n' }, 'openapi/guides/a.md:3  There is no picture'],
    ['no title', { 'a.md': 'A\n' }, 'openapi/guides/a.md:1  A guide must begin with its title'],
    ['a second title', { 'a.md': '# A\n\n# B\n' }, 'openapi/guides/a.md:3  A guide has only one title'],
    ['a missing guide', { 'guides.yaml': '# c\n- a.md\n' }, 'openapi/guides/guides.yaml:2  There is no'],
    ['a name that is taken', { 'all.md': '# A\n' }, 'openapi/guides/guides.yaml:1  The address /docs/all is taken'],
  ])('%s is reported with its file and line', async (_what, files, message) => {
    await write(files);
    await expect(shown('a')).rejects.toThrow(message);
  });

  test('the name, the logo and the colours are those of branding.yaml', async () => {
    await write({
      'a.md': '# A\n\nText.\n',
      'images/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'branding.yaml': '# Ours\nname: Northwind\nlogo: images/logo.svg\naccent: "#0a7d4f"\naccent-dark: "#7fe0b5"\n',
    });
    const branded = await readSite(ROOT, await readSource(root, contract), {
      server: 'https://api.example.org',
      address: 'https://api.example.org/docs',
      support: null,
      isServed: false,
    });
    const page = String(branded.get('a.html')?.());
    expect(page).toContain('<title>A - Northwind</title>');
    expect(String(branded.get('index.html')?.())).toMatch(
      /<title>Northwind API documentation<[\s\S]+<h1>Northwind API /,
    );
    expect(page).toContain('<img src="images/logo.svg" alt=""');
    const [, style = ''] = /href="(assets\/site\.[^"]+)"/.exec(page) ?? [];
    expect(String(branded.get(style)?.())).toMatch(/--accent: #0a7d4f;[\s\S]+--accent: #7fe0b5;/);
    expect(String(branded.get('images/logo.svg')?.())).toContain('<svg');
  });
});

test('Markdown becomes plain text for summaries', () => {
  expect(plain('See [**this** `code`](x.md),\nand more.\n\n| a | b |\n|---|---|\n| c | d |\n')).toBe(
    'See this code, and more. a b c d',
  );
});

describe('npm run docs', () => {
  test('--server and --base publish for that address, elsewhere than the files of this server', async () => {
    await using folder = await openFolder();
    const options = ['--server', 'https://api.example.org/', '--base', '/api-docs', '--out', folder.path];
    options.push('--support', 'help@example.org');
    const { code, stdout } = await runFile('scripts/docs/main.ts', options);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${folder.path} contains the documentation.\n` });
    const text = (name: string) => readFile(join(folder.path, name), 'utf8');
    expect(await text('limits.html')).toContain(
      '<link rel="canonical" href="https://api.example.org/api-docs/limits.html">',
    );
    expect(await text('index.html')).toContain('https://api.example.org/api/key');
    expect(await text('limits.html')).toContain('<a href="mailto:help@example.org">Support</a>');
    // The documentation on another host cannot send requests to the server, so the page has no form.
    const operation = await text('reference/createParentProgram.html');
    expect(operation).toContain('npx https://api.example.org/api-docs/charter-mock.tgz');
    expect(operation).not.toContain('<form');
    expect(await read('reference/createParentProgram.html')).toContain('This request writes:');
    expect(await text('sitemap.xml')).toContain('<loc>https://api.example.org/api-docs/limits.html</loc>');
    expect(await text('postman.json')).toContain('"https://api.example.org"');
    for (const name of [
      'index.html',
      'llms.txt',
      'reference.html',
      'sitemap.xml',
      'robots.txt',
      '.well-known/api-catalog',
    ])
      expect([name, (await text(name)).includes('127.0.0.1:3000')]).toEqual([name, false]);
  });

  test('a server that is no URL is refused, and --help says what the options mean', async () => {
    const wrong = await runFile('scripts/docs/main.ts', ['--server', 'api.example.org']);
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringContaining('--server is not a URL: "api.example.org".'),
    ]);
    const help = await runFile('scripts/docs/main.ts', ['--help']);
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('--base    where readers find the pages')]);
  });
});
