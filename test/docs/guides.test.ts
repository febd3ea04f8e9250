import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readContract } from '../../scripts/docs/contract.ts';
import { readGuides } from '../../scripts/docs/guides.ts';
import { placed } from '../../scripts/docs/places.ts';
import { documentOf } from '../../scripts/docs/redoc/document.ts';
import { unwrapped } from '../../scripts/docs/redoc/unwrapped.ts';

const contract = await readContract(join(import.meta.dirname, '../../generated/openapi.json'));

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

/** The guide as the documentation page contains it. */
async function shown(slug: string): Promise<string> {
  const guides = await readGuides(root);
  const guide = guides.all.find((each) => each.slug === slug);
  if (guide === undefined) throw new Error(`There is no ${slug}.`);
  return placed(guide, { contract, guides, heading: ({ text, anchor }) => `## ${text} (${anchor})` });
}

test('guides appear in the order of the list, with their titles', async () => {
  await write({ 'b.md': '# Second first\n\nText.\n', 'a.md': '# Then this\n' });
  expect((await readGuides(root)).all.map(({ slug, title }) => `${slug}: ${title}`)).toEqual([
    'b: Second first',
    'a: Then this',
  ]);
});

test('links lead to guides, headings, operations and other hosts, even across a line break', async () => {
  await write({
    'a.md':
      '# A\n\nSee [the\nother](b.md), [part](b.md#the-part) and\n[here](#down).\n\n## Down\n\n[Call](operation:getKey), [RFC](https://www.rfc-editor.org/rfc/rfc6750).\n\n[x]: b.md#the-part\n',
    'b.md': '# B\n\n## The `part`\n',
  });
  expect(await shown('a')).toBe(
    'See [the\nother](#/b), [part](#/b/the-part) and\n[here](#/a/down).\n\n## Down (down)\n\n[Call](#/key/getkey), [RFC](https://www.rfc-editor.org/rfc/rfc6750).\n\n[x]: #/b/the-part',
  );
});

test('the content of code is not read as a link or a heading', async () => {
  const code = '```md\n# No title\n[x](nowhere.md)\n```\n\nAnd `[y](nowhere.md)`, ``a ` [z](nowhere.md)``.';
  await write({ 'a.md': `# A\n\n${code}\n` });
  expect(await shown('a')).toBe(code);
});

test('headings with the same text have different anchors, as on GitHub', async () => {
  await write({ 'a.md': '# A\n\n## 409 `Conflict`: what?\n\n## Again\n\n## Again\n' });
  const [guide] = (await readGuides(root)).all;
  expect(guide?.headings.map(({ anchor }) => anchor)).toEqual(['409-conflict-what', 'again', 'again-1']);
});

test('a picture is embedded in the page', async () => {
  await write({ 'a.md': '# A\n\n![A dot](images/dot.svg)\n', 'images/dot.svg': '<svg/>' });
  expect(await shown('a')).toBe(`![A dot](data:image/svg+xml;base64,${btoa('<svg/>')})`);
});

test.each([
  ['a link to nowhere', { 'a.md': '# A\n\nOne\n[two](c.md).\n' }, 'openapi/guides/a.md:4  The link to "c.md"'],
  ['a missing heading', { 'a.md': '# A\n\n[x](#no)\n' }, 'openapi/guides/a.md:3  The link to "#no"'],
  ['an unknown operation', { 'a.md': '# A\n[x](operation:no)\n' }, 'openapi/guides/a.md:2  The link to'],
  ['a missing picture', { 'a.md': '# A\n\n![x](images/no.png)\n' }, 'openapi/guides/a.md:3  There is no picture'],
  ['no title', { 'a.md': 'A\n' }, 'openapi/guides/a.md:1  A guide must begin with its title'],
  ['a second title', { 'a.md': '# A\n\n# B\n' }, 'openapi/guides/a.md:3  A guide has only one title'],
  ['a missing guide', { 'guides.yaml': '# c\n- a.md\n' }, 'openapi/guides/guides.yaml:2  There is no'],
])('%s is reported with its file and line', async (_what, files, message) => {
  await write(files);
  await expect(shown('a')).rejects.toThrow(message);
});

test('text that Redoc would read as a directive is reported, and descriptions of operations stay unchanged', async () => {
  await write({ 'a.md': '# A\n\nWrite {% x %}.\n' });
  const guides = await readGuides(root);
  expect(() => documentOf(contract, guides, '')).toThrow('openapi/guides/a.md:3  Redoc reads "{%"');
});

test('only paragraphs are joined into one line', () => {
  const list =
    '1. One\n   goes on\n2. Two\n\n> Said\n> so  \n> often\n\n| a |\n|---|\n| b |\n\n```\nx\ny\n```\n\n## Title\nText\nmore\n';
  expect(unwrapped(list)).toBe(
    '1. One goes on\n2. Two\n\n> Said so  \n> often\n\n| a |\n|---|\n| b |\n\n```\nx\ny\n```\n\n## Title\nText more\n',
  );
});
