import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { EXCEPTIONS } from '../../src/api/exceptions.ts';
import { operations } from '../support/contract/contract.ts';
import { type Block, blocksOf, guideNames, readGuide } from '../support/contract/guides.ts';
import { useFolder } from '../support/folder.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

type Components = {
  readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
};

const FILE = join(import.meta.dirname, '../../generated/openapi.json');
const document: { components: Components } = JSON.parse(await readFile(FILE, 'utf8'));
const ajv = new Ajv2020({ strict: false });
formats.default(ajv);
ajv.addSchema(document, 'contract');

const blocks = guideNames.flatMap(blocksOf).map((block) => ({ ...block, name: `${block.guide}:${block.line}` }));
const inLanguage = (language: string) => blocks.filter((block) => block.language === language);
const isCurl = ({ language, code }: Block) => language === 'sh' && code.includes('curl');
const guidesWithCurl = [...new Set(blocks.filter(isCurl).map(({ guide }) => guide))];

test('every code block is plain text or in a language that the tests check', () => {
  expect(blocks.length).toBeGreaterThan(40);
  const languages = new Set(blocks.map(({ language }) => language));
  expect([...languages].sort()).toEqual(['go', 'http', 'js', 'json', 'php', 'python', 'sh', 'text', 'ts']);
});

test.each(inLanguage('json'))('the JSON of $name is valid by the contract', ({ code, options }) => {
  const value: unknown = JSON.parse(code);
  const example = options.get('example');
  if (example !== undefined) expect(value).toEqual(document.components.examples[example]?.value);
  else expect(ajv.validate({ $ref: `contract#/components/schemas/${options.get('schema')}` }, value)).toBe(true);
});

test('the headers of the message in receiving-events.md are those of the webhook', () => {
  const [head] = blocks.filter(({ options }) => options.has('webhook'));
  expect(head?.code).toMatch(
    /^POST .+\nContent-Type: .+\nwebhook-id: .+\nwebhook-timestamp: \d+\nwebhook-signature: v1,.+=\n$/,
  );
});

test.each(inLanguage('http'))('the response of $name is one that its operation declares', ({ code, options }) => {
  const [operationId = '', status = ''] = options.get('response')?.split(':') ?? [];
  const response = operations.find((operation) => operation.operationId === operationId)?.responses[status];
  const [line = '', ...headers] = code.trim().split('\n');
  expect(line).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`));
  for (const header of headers) {
    const [name = '', text = ''] = header.split(/: (.*)/);
    const schema = response?.headers?.[name]?.schema ?? false;
    expect({ header, isShown: ajv.validate(schema, /^\d+$/.test(text) ? Number(text) : text) }).toEqual({
      header,
      isShown: true,
    });
  }
});

const server = await useServer();
const folder = await useFolder();
// curl reads this configuration file automatically. So the command runs exactly as the guide shows it, and also prints the
// status.
const CURLRC = 'silent\nshow-error\nnoproxy = "*"\nwrite-out = "\\n=> %{response_code}\\n"\n';
await writeFile(join(folder, '.curlrc'), CURLRC);

describe('every curl command gets the status that its guide states', () => {
  /** Returns the variables that the reader of a guide has set when the commands begin. */
  async function readersEnvironment(): Promise<Record<string, string>> {
    const { client, key } = await createTestOrganization(server);
    const program = await client.post('/api/parent_programs', { name: 'Nordic Scholars Exchange' });
    for (const name of ['Alpine Teacher Residency', 'Harbour City Apprenticeships']) {
      await client.post('/api/parent_programs', { name });
    }
    const page = await client.get('/api/parent_programs?limit=2');
    return {
      PATH: process.env['PATH'] ?? '',
      CURL_HOME: folder,
      HOME: folder,
      CHARTER_URL: server.url,
      CHARTER_API_KEY: key,
      PROGRAM_ID: program.body.id,
      ETAG: program.headers['etag'] ?? '',
      CURSOR: page.body.page.next_cursor,
    };
  }

  test.each(guidesWithCurl)('%s', async (guide) => {
    const env = await readersEnvironment();
    const ofGuide = blocks.filter((block) => block.guide === guide);
    for (const [i, block] of ofGuide.entries()) {
      if (!isCurl(block)) continue;
      const { name, code, options } = block;
      const { stdout, stderr } = await promisify(execFile)('sh', ['-euc', code], { env });
      const responses = [...stdout.matchAll(/(.*)\n=> (\d+)\n/g)];
      const statuses = responses.map(([, , status]) => status).join();
      expect({ name, stderr, statuses }).toEqual({ name, stderr: '', statuses: options.get('status') });
      // If the guide shows a refusal below its request, the refusal must be the actual response, apart from ids.
      const shown = ofGuide[i + 1];
      const [, body = '', status = ''] = responses.at(-1) ?? [];
      if (shown?.language === 'json' && Number(status) >= 400)
        expect(JSON.parse(withoutIds(body))).toEqual(JSON.parse(withoutIds(shown.code)));
    }
  });
});

function withoutIds(text: string): string {
  return text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID');
}

describe('errors.md', () => {
  const sections = readGuide('errors.md')
    .split('\n## ')
    .filter((section) => /^\d{3} /.test(section));
  const headings = sections.map((section) => section.split('\n', 1)[0] ?? '');
  const exceptions = Object.values(EXCEPTIONS)
    .map(({ status, schema }) => `${status} ${schema}`)
    .sort();

  test('shows every exception, ordered by status', () => {
    expect(headings).toEqual(exceptions);
    for (const heading of exceptions) {
      const [status, name] = heading.split(' ');
      expect(readGuide('errors.md')).toContain(
        `| ${status} | [${name}](#${heading.toLowerCase().replace(' ', '-')}) |`,
      );
    }
  });

  test.each(sections.map((section, i) => ({ heading: headings[i] ?? '', section })))(
    '$heading states the cause, shows an example and gives the remedy',
    ({ heading, section }) => {
      const [, name = ''] = heading.split(' ');
      const shown = [...section.matchAll(/^```json example=(\w+)$/gm)].map(([, example = '']) => example);
      expect(shown).not.toEqual([]);
      for (const example of shown) expect(example).toMatch(new RegExp(`^${name.replace('Exception', '')}`));
      expect(section).toMatch(/\n\*\*When\.\*\* [\s\S]+\n\*\*What to do\.\*\* /);
    },
  );
});

test('decisions.md names every exception', () => {
  const [chosen = ''] = readGuide('decisions.md').split('\n## What comes later\n');
  for (const { status, schema } of Object.values(EXCEPTIONS)) expect(chosen).toContain(`${status} \`${schema}\``);
});
