import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type LinkTargets, readLinkTargets } from '../../openapi/lint/link-targets.ts';
import { contractRules, workflowRules } from '../../openapi/lint/plugin.ts';
import type { Mistake } from '../../openapi/lint/rule.ts';
import { bundleContract, UnbundledError } from '../../scripts/bundle.ts';
import { headingsOf } from '../../scripts/docs/markdown.ts';
import { lintDocuments, problemOfScore, problemsOf, scoreOf } from '../../scripts/lint/contract.ts';
import { lintTexts, pageRules } from '../../scripts/lint/files.ts';
import { inOrder, type Problem, problemsText } from '../../scripts/lint/problem.ts';
import { lintSpelling } from '../../scripts/lint/spelling.ts';
import { root } from '../../scripts/tool.ts';
import { useFolder } from '../support/folder.ts';

const LINT = join(import.meta.dirname, '../../openapi/lint');

const folder = await useFolder();

function plant(sample: string, { find, replace }: Pick<Mistake, 'find' | 'replace'>): string {
  expect(sample).toContain(find);
  return sample.replace(find, () => replace);
}

function reportOf(problems: readonly Problem[]): string[] {
  return problems.map(({ rule, message }) => `${rule}: ${message.replace(/\S+\.yaml(?=:\d)/, 'FILE')}`);
}

const MISTAKES: readonly (readonly [what: string, find: string, replace: string, messages: readonly string[]])[] = [
  [
    'a misspelt name',
    'tags: [Books]',
    'tagss: [Books]',
    ['operation-tag-defined: This operation has no tag.', 'struct: OpenAPI has no "tagss" at this place.'],
  ],
  ['a missing name', '          in: query\n', '', ['struct: "in" is missing here.']],
  [
    'a string in place of a mapping',
    '          schema:\n            type: integer\n            minimum: 1\n            maximum: 100\n',
    '          schema: number\n',
    ['struct: This is a text, but must be a group of "name: value" lines.'],
  ],
  [
    'a dangling reference',
    '#/components/examples/FirstPage"',
    '#/components/examples/FirstPag"',
    ['no-unresolved-refs: This reference has no target.', 'no-unused-components: Nothing uses "FirstPage".'],
  ],
  [
    'a reference to a missing file',
    '"#/components/examples/Created"',
    'Created.yaml',
    ['no-unresolved-refs: The file "Created.yaml" does not exist.', 'no-unused-components: Nothing uses "Created".'],
  ],
  [
    'a duplicate operationId',
    'operationId: createBook',
    'operationId: listBooks',
    ['unique-operation-id: Two operations have the operationId "listBooks". The other place is FILE:21.'],
  ],
  [
    'an operation without a summary',
    '      summary: Create a book\n',
    '',
    ['operation-summary: This operation has no summary.'],
  ],
  [
    'a parameter without a description',
    '          description: How many books a page holds at most.\n',
    '',
    ['parameter-description: This parameter has no description.'],
  ],
  [
    'an example out of bounds',
    '              value: 10\n',
    '              value: 1000\n',
    ['no-invalid-parameter-examples: This example does not match its schema: must be <= 100.'],
  ],
  [
    'a field without an example',
    '          examples: [A book]\n',
    '',
    ['scalar-property-missing-example: This field has no example.'],
  ],
  [
    'an unknown type',
    'type: integer',
    'type: int',
    [
      'no-invalid-parameter-examples: The schema of this example is not valid: type must be JSONType or JSONType[]: int.',
      'struct: "type" cannot have this value.',
    ],
  ],
  [
    'an unknown tag',
    'tags: [Books]',
    'tags: [Book]',
    ['operation-tag-defined: This tag is not listed in openapi/openapi.yaml.'],
  ],
  [
    'a required field that is not declared',
    'required: [data]',
    'required: [data, extra]',
    [
      'no-required-schema-properties-undefined: "extra" is required, but there is no such field.',
      'no-invalid-media-type-examples: This example does not match its schema: "extra" is missing.',
    ],
  ],
];

const TWO_IN_ONE = {
  find: '        message: The book was created.\n',
  replace: '        note: A\n        more: B\n',
};
const contractMistakes = contractRules.flatMap(({ name, mistakes }) => mistakes.map((mistake) => ({ name, mistake })));
const workflowMistakes = workflowRules.flatMap(({ name, mistakes }) => mistakes.map((mistake) => ({ name, mistake })));

let readable: Promise<ReadonlyMap<string, Problem[]>> | undefined;

/**
 * Returns the problems of all documents that Redocly can read, by file. Lints all documents in one run, because Redocly takes
 * longer to start than to lint.
 */
function lintReadable(): Promise<ReadonlyMap<string, Problem[]>> {
  readable ??= lintAll();
  return readable;
}

async function lintAll(): Promise<ReadonlyMap<string, Problem[]>> {
  const sample = await readFile(join(LINT, 'sample.yaml'), 'utf8');
  const workflow = await readFile(join(LINT, 'sample.arazzo.yaml'), 'utf8');
  const texts: readonly (readonly [string, string])[] = [
    ['sample.yaml', sample],
    ['sample.arazzo.yaml', workflow],
    ['two-in-one.yaml', plant(sample, TWO_IN_ONE)],
    ...contractMistakes.map(({ mistake }, i) => [`rule-${i}.yaml`, plant(sample, mistake)] as const),
    ...workflowMistakes.map(({ mistake }, i) => [`rule-${i}.arazzo.yaml`, plant(workflow, mistake)] as const),
    ...MISTAKES.map(([, find, replace], i) => [`mistake-${i}.yaml`, plant(sample, { find, replace })] as const),
  ];
  await Promise.all(texts.map(([name, text]) => writeFile(join(folder, name), text)));
  const problems = await lintDocuments(texts.map(([name]) => join(folder, name)));
  expect(problems).toHaveLength(texts.length);
  return new Map(texts.map(([name], i) => [name, problems[i] ?? []]));
}

async function problemsIn(file: string): Promise<Problem[]> {
  const problems = (await lintReadable()).get(file);
  if (problems === undefined) throw new Error(`${file} was not linted.`);
  return problems;
}

describe('the contract', () => {
  async function lintSamples(mistakes: readonly Pick<Mistake, 'find' | 'replace'>[]): Promise<Problem[][]> {
    const sample = await readFile(join(LINT, 'sample.yaml'), 'utf8');
    const files = mistakes.map((mistake, i) => ({ file: join(folder, `${i}.yaml`), text: plant(sample, mistake) }));
    await Promise.all(files.map(({ file, text }) => writeFile(file, text)));
    return lintDocuments(files.map(({ file }) => file));
  }

  test('the sample has no problems', async () => {
    expect(await problemsIn('sample.yaml')).toEqual([]);
  });

  test('each rule reports each of its own mistakes, and no other rule reports them', async () => {
    expect(contractRules.filter(({ mistakes }) => mistakes.length === 0)).toEqual([]);
    const found = await Promise.all(contractMistakes.map((_, i) => problemsIn(`rule-${i}.yaml`)));
    expect(found.map(reportOf)).toEqual(contractMistakes.map(({ name, mistake }) => [`${name}: ${mistake.says}`]));
    expect(found.flat().filter(({ remedy, line }) => remedy === '' || line === 1)).toEqual([]);
  });

  test.each(MISTAKES.map(([what, , , messages], i) => ({ what, messages, i })))(
    '$what gets a plain message',
    async ({ messages, i }) => {
      expect(reportOf(await problemsIn(`mistake-${i}.yaml`))).toEqual(messages);
    },
  );

  test('every mistake in an example is listed, those of one place in one problem', async () => {
    const problems = await problemsIn('two-in-one.yaml');
    const [first, ...others] = problems.map(({ message }) => message);
    expect(first).toMatch(/: "message" is missing; .*"note"/);
    expect(others.join()).toContain('"more"');
  });

  test('a problem that causes others comes first', () => {
    const problem = { line: 1, column: 1, message: 'x', remedy: 'y' };
    const follower = { ...problem, file: 'a.md', rule: 'link' };
    const cause = { ...problem, file: 'b.yaml', rule: 'unique-operation-id' };
    expect(inOrder([follower, cause])).toEqual([cause, follower]);
  });

  test('a path in a message of Redocly is shortened to that in the checkout', () => {
    const location = [{ source: { ref: 'openapi/openapi.yaml' }, start: { line: 1, col: 1 } }];
    const message = `Failed to read ${join(LINT, 'sample.yaml')}.`;
    const problems = problemsOf([{ ruleId: 'some-rule', message, suggest: [], location }]);
    expect(problemsText(problems)).toContain('Failed to read openapi/lint/sample.yaml.');
  });

  test("Redocly's score says which parts lower it, lowest first", () => {
    const score = scoreOf({
      agentReadiness: 88.1,
      subscores: { schemaSimplicity: 0.6041, errorClarity: 1, clarity: 0.2 },
    });
    expect(problemOfScore(score)[0]?.message).toBe(
      "Redocly's score of the contract is 88.1 of 100 (clarity 20%, schema simplicity 60%), but must be above 90.",
    );
    expect(problemOfScore({ ...score, points: 90.1 })).toEqual([]);
  });

  test.each([
    ['a tab', '  title: Sample API', '\ttitle: Sample API', 'This line is indented with a tab.'],
    ['a wrong indentation', '  version: 1.0.0', '   version: 1.0.0', 'This line is not indented like its neighbours.'],
    ['a colon in a text', 'title: Sample API', 'title: Sample: an API', 'The text on this line contains a colon.'],
    [
      'a repeated name',
      '  version: 1.0.0',
      '  version: 1.0.0\n  version: 1.0.1',
      'The name on this line is used twice.',
    ],
    [
      'an open quotation mark',
      'title: Sample API',
      'title: "Sample API',
      'The quotation mark on line 4 is not closed.',
    ],
  ])('%s that makes the YAML invalid is reported once, with its line', async (_, find, replace, message) => {
    const [problems = []] = await lintSamples([{ find, replace }]);
    expect(reportOf(problems)).toEqual([`yaml: ${message}`]);
    expect(problems[0]).toMatchObject({ file: relative(root, join(folder, '0.yaml')) });
    expect(problems[0]?.line).toBeGreaterThan(2);
  });

  test.each([
    ['a file that is not YAML', '"#/components/examples/Created"', 'Broken.yaml'],
    ['a file that does not exist', '"#/components/examples/Created"', 'Missing.yaml'],
    ['a reference without a target', '#/components/examples/Created"', '#/components/examples/Creatd"'],
    ['a main file that is not YAML', '  version: 1.0.0', '   version: 1.0.0'],
  ])('%s is reported by the bundler once, as by the linter', async (_, find, replace) => {
    await writeFile(join(folder, 'Broken.yaml'), 'summary: Created\n value: 1\n');
    const [linted = []] = await lintSamples([{ find, replace }]);
    const error: unknown = await bundleContract(join(folder, '0.yaml')).catch((reason) => reason);
    const problems = error instanceof UnbundledError ? error.problems : error;
    expect(problems).toEqual(linted.filter(({ rule }) => ['yaml', 'no-unresolved-refs'].includes(rule)));
    expect(problems).toHaveLength(1);
  });

  test.each([
    ['an empty file', ''],
    ['a file with only a string', 'Sample API\n'],
  ])('%s is reported', async (_, text) => {
    const file = join(folder, 'empty.yaml');
    await writeFile(file, text);
    const [problems = []] = await lintDocuments([file]);
    expect(problems.map(({ line, message }) => ({ line, message }))).toEqual([
      { line: 1, message: 'This file does not begin with "name: value" lines.' },
    ]);
  });
});

describe('workflows', () => {
  test('the sample has no problems', async () => {
    expect(await problemsIn('sample.arazzo.yaml')).toEqual([]);
  });

  test('each rule reports each of its own mistakes, and no other rule reports them', async () => {
    const found = await Promise.all(workflowMistakes.map((_, i) => problemsIn(`rule-${i}.arazzo.yaml`)));
    expect(found.map(reportOf)).toEqual(workflowMistakes.map(({ name, mistake }) => [`${name}: ${mistake.says}`]));
    expect(found.flat().filter(({ remedy, line }) => remedy === '' || line === 1)).toEqual([]);
  });
});

describe('pages', () => {
  const FILE = 'openapi/guides/sample.md';
  const targets: LinkTargets = {
    document: {
      paths: {
        '/api/key': {
          get: {
            operationId: 'getKey',
            responses: { 200: { headers: { ETag: { schema: { type: 'string', pattern: '^"' } } } } },
          },
        },
      },
      components: {
        examples: { ValidationLimit: { value: {} } },
        schemas: { Key: { required: ['id'] }, Anything: {} },
      },
    },
    operationIds: new Set(['getKey']),
    webhookIds: new Set(['onKeyCreated']),
    schemas: new Set(['Key', 'Anything']),
    examples: new Set(['ValidationLimit']),
    guidesElsewhere: [],
    has: (file) => [FILE, 'openapi/guides/page.md', 'openapi/guides/picture.png'].includes(file),
    namesIn: (at) => (at === 'openapi/guides' ? ['page.md', 'picture.png', 'sample.md'] : []),
    anchorsOf: (file) => new Set(file === FILE ? ['sample-page', 'keys'] : ['page', 'more']),
  };

  async function lintSample(mistake: Pick<Mistake, 'find' | 'replace'>): Promise<Problem[]> {
    return lintTexts({ [FILE]: plant(await readFile(join(LINT, 'sample.md'), 'utf8'), mistake) }, targets);
  }

  test('the sample has no problems', async () => {
    expect(await lintSample({ find: '# Sample page', replace: '# Sample page' })).toEqual([]);
  });

  const all = pageRules.flatMap(({ name, mistakes }) =>
    mistakes.map((mistake) => ({ name, mistake, says: mistake.says })),
  );

  test.each(all)('$name: $says', async ({ name, mistake }) => {
    const problems = await lintSample(mistake);
    expect(reportOf(problems)).toEqual([`${name}: ${mistake.says}`]);
    expect(problems[0]?.remedy).not.toBe('');
  });

  test.each([
    ['after a missing comma', '{\n  "a": 1,\n  "b": 2\n  "c": 3\n}', 3, "Expected ',' or '}' after property value"],
    [
      'of a stray character',
      '{\n  "a": 1,\n  "b": }\n}',
      2,
      'Unexpected token \'}\', ..."1,   "b": } }" is not valid JSON',
    ],
    ['of a comma before a bracket', '{\n  "a": 1,\n}', 2, 'Expected double-quoted property name'],
    ['of an open string', '{\n  "a": "1\n}', 1, 'Bad control character in string literal'],
    ['where JSON ends too early', '{\n  "a": {\n}', 2, "Expected ',' or '}' after property value"],
  ])('JSON in a page that cannot be read is reported at the line %s', async (_, json, below, reason) => {
    const sample = await readFile(join(LINT, 'sample.md'), 'utf8');
    const opening = sample.slice(0, sample.indexOf('\n{}')).split('\n').length;
    const problems = await lintSample({ find: '\n{}', replace: `\n${json}` });
    expect(problems.map(({ line, message }) => ({ line, message }))).toEqual([
      { line: opening + 1 + below, message: `This is not JSON: ${reason}.` },
    ]);
  });

  test.each([
    [
      'a level that is skipped',
      '## Keys',
      '### Keys',
      'MD001: This heading skips a level: it has level 3 and needs level 2.',
    ],
    ['a picture without alternative text', '![A picture]', '![]', 'MD045: This picture has no alternative text.'],
    ['a second title', '## Keys', '# Keys', 'MD025: This is a second title.'],
    ['no title', '# Sample page\n', '', 'MD041: The page does not begin with its title.'],
    ['a code block without a language', '```sh status=200', '```', 'MD040: This code has no language.'],
    [
      'a bare address',
      '[an address](https://example.org/)',
      'https://example.org/',
      'MD034: This web address is not a link.',
    ],
    ['HTML', 'A page without', 'A <b>page</b> without', 'MD033: This is HTML: b.'],
  ])('%s gets a plain message', async (_, find, replace, says) => {
    expect(reportOf(await lintSample({ find, replace }))).toEqual([says]);
  });

  test.each(['  operationId: getKey', '\toperationId: getKey', '  operationId getKey'])(
    'a link to an operation stays valid while its file is invalid YAML: %j',
    async (line) => {
      await mkdir(join(folder, 'openapi/paths'), { recursive: true });
      await writeFile(join(folder, 'openapi/paths/key.yaml'), `get:\n${line}\n  summary: Get\n`);
      expect([...readLinkTargets(folder, null).operationIds]).toEqual(['getKey']);
    },
  );

  test("anchors match GitHub's, with a number for a second heading of the same text", () => {
    const text =
      '# A `code` & more\n\n## 401 Exception\n\n```sh\n# no heading\n```\n\n## See [this](x.md)\n\n## 401 Exception\n';
    expect(headingsOf(text).map(({ anchor }) => anchor)).toEqual([
      'a-code--more',
      '401-exception',
      'see-this',
      '401-exception-1',
    ]);
  });
});

test('a misspelt word in a page or in the contract is reported with its place, except in code and names', async () => {
  await writeFile(
    join(folder, 'page.md'),
    'You recieve\n`teh` color, an organisation and Prisma.\n\n```sh\ncurl -sf\n```\n',
  );
  await writeFile(join(folder, 'Example.yaml'), 'summary: Teh `recieve`\nvalue:\n  externl_id: sis\n');
  const problems = await lintSpelling(['page.md', 'Example.yaml'], folder);
  const places = problems.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`);
  expect(places).toEqual([
    'Example.yaml:1:10 "Teh" is not in the dictionary.',
    'page.md:1:5 "recieve" is not in the dictionary.',
    'page.md:2:7 "color" is not in the dictionary.',
    'page.md:2:17 "organisation" is not in the dictionary.',
  ]);
  expect(problems.map(({ remedy }) => remedy.split('?', 1)[0])).toEqual([
    'Did you mean "the"',
    'Did you mean "receive"',
    'Did you mean "colour"',
    'Did you mean "organization"',
  ]);
});

test('the remedy for a code that is no word is to mark it as one', async () => {
  const code = 'v1,X+zrZv/IbzjZUnhsbWlsecLbwjndTpG0ZynXOif7V+k=';
  await writeFile(join(folder, 'Signature.yaml'), `value: ${code}\nexamples: ["${code}"]\n`);
  await writeFile(join(folder, 'signature.md'), `# One\n\n${code}\n\n\`${code}\`\n`);
  const problems = await lintSpelling(['Signature.yaml', 'signature.md'], folder);
  expect(new Set(problems.map(({ file, line }) => `${file}:${line}`))).toEqual(
    new Set(['Signature.yaml:1', 'signature.md:3']),
  );
  for (const { remedy } of problems) expect(remedy).toMatch(/^If it is a code and no word, put it in quotation marks/);
});

test('the project dictionary is sorted and has no duplicates', async () => {
  const words = (await readFile(join(LINT, 'words.txt'), 'utf8')).trimEnd().split('\n');
  expect(words).toEqual([...new Set(words)].sort());
});
