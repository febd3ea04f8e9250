import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { brotliCompressSync } from 'node:zlib';
import { questionsIn } from '../../scripts/docs/guides.ts';
import { searchIndexOf } from '../../scripts/docs/search.ts';
import { readSite } from '../../scripts/docs/site.ts';
import { lintQuestions } from '../../scripts/lint/files.ts';
import { source } from '../support/browser/docs.ts';

type Result = {
  readonly kind: string;
  readonly title: string;
  readonly where: string;
  readonly name: string;
  readonly anchor: string;
};
type Search = { find(query: string): Result[] };

const ROOT = join(import.meta.dirname, '../..');
const site = await readSite(ROOT, source, {
  server: 'http://127.0.0.1:3000',
  address: '/docs',
  isServed: true,
  support: null,
});
const script = String(site.get('search.js')?.());
const browser: { siteSearch?: Search } = createContext({});
runInContext(script, browser);
const find = (query: string) => browser.siteSearch?.find(query) ?? [];

/** Returns the names that queries.txt uses for a result. */
function namesOf(
  { kind, title, where, name, anchor }: Result | undefined = { kind: '', title: '', where: '', name: '', anchor: '' },
): string[] {
  const [, operationId] = where.split(' · ');
  return [`${name}${anchor}`, `${kind} ${title}`, ...(operationId === undefined ? [] : [operationId])];
}

test('at least 520 of 568 queries of newcomers have their answer first, and 550 among the first three', () => {
  const ranks = readFileSync(join(import.meta.dirname, 'queries.txt'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [query = '', answers = ''] = line.split(' => ');
      const isAnswer = (result: Result) => answers.split(', ').some((answer) => namesOf(result).includes(answer));
      return { query, rank: find(query).findIndex(isAnswer), first: namesOf(find(query)[0]) };
    });
  const wrong = ranks.filter(({ rank }) => rank !== 0);
  const lost = ranks.filter(({ rank }) => rank < 0 || rank > 2);
  expect(ranks).toHaveLength(568);
  expect(wrong.length <= 48 ? [] : wrong).toEqual([]);
  expect(lost.length <= 18 ? [] : lost).toEqual([]);
});

test.each([
  ['a question', 'quagga stampede'],
  ['its words in another order, among others', 'how do i stop a stampede of the quagga'],
  ['a misspelt question', 'quaga stampeed'],
])('%s leads to the place, whose text does not show it', (_, query) => {
  const questions = [{ place: 'limits.md#batches', line: 1, asked: ['zebra crossing', 'quagga stampede'] }];
  const index = JSON.stringify(searchIndexOf({ ...source, questions }));
  const [first] = runInContext(`openSiteSearch(${index})`, browser).find(query);
  expect(first).toMatchObject({ name: 'limits', anchor: '#batches' });
  expect(JSON.stringify(first)).not.toMatch(/quagga/);
});

test('questions without a place are a problem, with its line and the nearest place', () => {
  const text =
    '# Comment\nlimit.md: [quota]\noperation:getKey:\n  [who am i,\n   whoami]\nexternal-id: [sku]\nlimits.md: quota\n';
  expect(lintQuestions(text, source)).toMatchObject([
    { line: 7, rule: 'yaml', message: expect.stringContaining('"limits.md" are not a list') },
    { line: 2, message: 'The place "limit.md" does not exist.', remedy: 'Did you mean "limits.md"?' },
    { line: 6, message: 'The place "external-id" does not exist.', remedy: 'Did you mean "external_id"?' },
  ]);
  const { found } = questionsIn(text);
  expect(() => searchIndexOf({ ...source, questions: found })).toThrow('questions.yaml:2  The place "limit.md"');
});

test('every place of the index exists', async () => {
  const pages = new Map<string, string>();
  const placed = searchIndexOf(source).map(([, , , name, anchor]) => [String(name), String(anchor)] as const);
  const missing = placed.filter(([name, anchor]) => {
    const page = pages.get(name) ?? String(site.get(`${name}.html`)?.() ?? '');
    pages.set(name, page);
    return page === '' || (anchor !== '' && !page.includes(` id="${anchor.slice(1)}"`));
  });
  expect(missing).toEqual([]);
});

test('every operation, parameter, header, schema and field is among the first five results for its exact name', () => {
  const { contract } = source;
  const names = [
    ...[...contract.operations, ...contract.webhooks].map(({ operationId }) => operationId),
    ...contract.operations.flatMap(({ parameters = [] }) => parameters.map(({ name }) => name)),
    ...Object.keys(contract.schemas),
    ...Object.values(contract.schemas).flatMap(({ properties = {} }) => Object.keys(properties)),
  ];
  const found = [...new Set(names)].filter((name) => {
    const results = find(name).slice(0, 5);
    return !results.some((each) => each.title === name || each.where.endsWith(` · ${name}`));
  });
  expect(found).toEqual([]);
});

test('the script with its index has at most 570 bytes for each place, and 155 when it is compressed', () => {
  const places = searchIndexOf(source).length;
  expect(script.length / places).toBeLessThan(570);
  expect(brotliCompressSync(script).length / places).toBeLessThan(155);
});
