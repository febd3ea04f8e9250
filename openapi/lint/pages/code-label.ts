import type { LinkTargets } from '../link-targets.ts';
import { nearest } from '../nearest.ts';
import type { PageRule } from '../page-rule.ts';

// In a guide, the line that opens a code block has a label after the language. Readers do not see the label. It tells
// code-content and test/contract/guides.test.ts what the code must match, so that outdated code is found.

export const codeLabel: PageRule = {
  name: 'code-label',
  check({ file, tokens, report }, targets) {
    const isGuide = file.startsWith('openapi/guides/');
    for (const at of tokens.filter(({ type }) => type === 'codeFenced')) {
      const [opening = '', ...lines] = at.text.split('\n');
      const fault = isGuide ? faultOf(labelOf(opening), lines.join('\n'), targets) : null;
      if (!isClosed(lines)) report({ at, ...NOT_CLOSED });
      else if (fault !== null) report({ at, ...fault });
    }
  },
  mistakes: [
    { find: '```\n\n```http', replace: '\n```http', says: 'This code block is not closed.' },
    {
      find: '```json example=ValidationLimit',
      replace: '```json',
      says: 'This JSON has no label, so no test checks it.',
    },
    {
      find: '```json example=ValidationLimit',
      replace: '```json example=ValidationLimits',
      says: 'The contract has no example "ValidationLimits".',
    },
    { find: '```sh status=200', replace: '```sh', says: 'This curl command has no expected status.' },
    { find: '```sh status=200', replace: '```bash status=200', says: 'No test checks code in "bash".' },
    { find: '```http response=getKey:200', replace: '```http', says: 'This response does not name its operation.' },
    { find: '```sh status=200', replace: '```python', says: 'No test runs this code.' },
    { find: '```table permissions', replace: '```table events', says: 'The contract has no table "events".' },
    {
      find: '```table permissions\n',
      replace: '```table permissions\n| a |\n',
      says: 'This block becomes a table of the contract, but is not empty.',
    },
  ],
};

type Advice = { readonly message: string; readonly remedy: string };

const NOT_CLOSED = { message: 'This code block is not closed.', remedy: 'Add a line with ``` below it.' };

/** Returns whether the code block is closed. The text of an unclosed block contains the line that opens the next block. */
function isClosed(lines: readonly string[]): boolean {
  return lines.findIndex((line) => line.startsWith('```')) === lines.length - 1;
}

const LANGUAGES = ['json', 'http', 'sh', 'text', 'ts', 'js', 'python', 'go', 'php', 'table'];

type Label = { readonly language: string; readonly options: ReadonlyMap<string, string> };

/** Parses the line that opens a code block, such as "```sh status=200". */
export function labelOf(opening: string): Label {
  const [language = '', ...words] = opening.replace(/^`+/, '').trim().split(/\s+/);
  const options = words.map((word): [string, string] => [word.split('=')[0] ?? '', word.split('=')[1] ?? '']);
  return { language, options: new Map(options) };
}

function faultOf({ language, options }: Label, code: string, targets: LinkTargets): Advice | null {
  switch (language) {
    case 'json':
      return faultOfJson(options, targets);
    case 'sh':
      return /\bcurl\b/.test(code) && !/^\d{3}(,\d{3})*$/.test(options.get('status') ?? '')
        ? {
            message: 'This curl command has no expected status.',
            remedy: 'Add it after the language: ```sh status=200. Separate several with commas: status=200,304.',
          }
        : null;
    case 'http':
      return /^\w+:\d{3}$/.test(options.get('response') ?? '')
        ? null
        : {
            message: 'This response does not name its operation.',
            remedy: 'Add the operation and the status after the language: ```http response=getKey:200.',
          };
    case 'ts':
    case 'js':
    case 'python':
    case 'go':
    case 'php':
      return options.has('receiver') || ['read', 'copy'].includes(options.get('program') ?? '')
        ? null
        : {
            message: 'No test runs this code.',
            remedy:
              'Make it a program that receives events on port 8000, and add a label after the language: ```python receiver. A program that reads all pages has the label program=read, and one that keeps a copy program=copy.',
          };
    case 'table':
      return code === '```' ? faultOfTable(options, targets) : TABLE_NOT_EMPTY;
    case 'text':
    case '':
      return null;
    default:
      return { message: `No test checks code in "${language}".`, remedy: `Use one of: ${LANGUAGES.join(', ')}.` };
  }
}

const TABLE_NOT_EMPTY = {
  message: 'This block becomes a table of the contract, but is not empty.',
  remedy: 'Delete the lines between the fences.',
};

function faultOfTable(options: ReadonlyMap<string, string>, { operationIds }: LinkTargets): Advice | null {
  const [[kind = '', operation = ''] = []] = options;
  if (['permissions', 'webhooks'].includes(kind) || (kind === 'filters' && operationIds.has(operation))) return null;
  const remedy = 'Use one of: permissions, webhooks, or filters=OPERATION with the operation of a list.';
  return { message: `The contract has no table "${[kind, operation].join(' ').trim()}".`, remedy };
}

function faultOfJson(options: ReadonlyMap<string, string>, { examples, schemas }: LinkTargets): Advice | null {
  for (const [kind, names] of [
    ['example', examples],
    ['schema', schemas],
  ] as const) {
    const name = options.get(kind);
    if (name === undefined) continue;
    if (names.has(name)) return null;
    const near = nearest(name, names);
    const remedy = near === undefined ? `See openapi/components/${kind}s.` : `Did you mean "${near}"?`;
    return { message: `The contract has no ${kind} "${name}".`, remedy };
  }
  return {
    message: 'This JSON has no label, so no test checks it.',
    remedy: 'Label it with an example or a schema of the contract: ```json example=KeyReadOnly, or ```json schema=Key.',
  };
}
