import type { Book } from '../book.ts';
import { nearest } from '../nearest.ts';
import type { PageRule } from '../page-rule.ts';

// An example that nothing checks is wrong one day. A label says what test/contract/guides.test.ts holds it against; it
// stands behind the language, where no reader sees it.

export const codeLabel: PageRule = {
  name: 'code-label',
  check({ file, tokens, report }, book) {
    const isGuide = file.startsWith('openapi/guides/');
    for (const at of tokens.filter(({ type }) => type === 'codeFenced')) {
      const [opening = '', ...lines] = at.text.split('\n');
      const label = opening.replace(/^`+/, '').trim();
      const fault = isGuide ? faultOf(label, lines.join('\n'), book) : null;
      if (!isClosed(lines)) report({ at, ...NOT_CLOSED });
      else if (fault !== null) report({ at, ...fault });
    }
  },
  mistakes: [
    { replace: '```\n\n```http', by: '\n```http', says: 'This code has no end.' },
    {
      replace: '```json example=ValidationLimit',
      by: '```json',
      says: 'This example of JSON does not say what it is an example of.',
    },
    {
      replace: '```json example=ValidationLimit',
      by: '```json example=ValidationLimits',
      says: 'There is no example "ValidationLimits" in the contract.',
    },
    { replace: '```sh status=200', by: '```sh', says: 'This curl does not say which status it gets.' },
    { replace: '```sh status=200', by: '```bash status=200', says: 'Code in "bash" is checked by nothing.' },
    { replace: '```http answer=getKey:200', by: '```http', says: 'This answer does not say of which operation it is.' },
  ],
};

type Fault = { words: string; remedy: string };

const NOT_CLOSED = { words: 'This code has no end.', remedy: 'Write ``` on a line of its own below it.' };

/** What comes next begins within code that was not closed. */
function isClosed(lines: readonly string[]): boolean {
  return lines.findIndex((line) => line.startsWith('```')) === lines.length - 1;
}

const LANGUAGES = ['json', 'http', 'sh', 'text'];

function faultOf(label: string, code: string, book: Book): Fault | null {
  const [language = '', ...words] = label.split(/\s+/);
  const options = new Map(words.map((word): [string, string] => [word.split('=')[0] ?? '', word.split('=')[1] ?? '']));
  switch (language) {
    case 'json':
      return faultOfJson(options, book);
    case 'sh':
      return /\bcurl\b/.test(code) && !/^\d{3}(,\d{3})*$/.test(options.get('status') ?? '')
        ? {
            words: 'This curl does not say which status it gets.',
            remedy: 'Write ```sh status=200; and of several: status=200,304.',
          }
        : null;
    case 'http':
      return /^\w+:\d{3}$/.test(options.get('answer') ?? '')
        ? null
        : { words: 'This answer does not say of which operation it is.', remedy: 'Write ```http answer=getKey:200.' };
    case 'text':
    case '':
      return null;
    default:
      return { words: `Code in "${language}" is checked by nothing.`, remedy: `There are: ${LANGUAGES.join(', ')}.` };
  }
}

function faultOfJson(options: ReadonlyMap<string, string>, { examples, schemas }: Book): Fault | null {
  for (const [kind, names] of [
    ['example', examples],
    ['schema', schemas],
  ] as const) {
    const name = options.get(kind);
    if (name === undefined) continue;
    if (names.has(name)) return null;
    const near = nearest(name, names);
    const remedy = near === undefined ? `See openapi/components/${kind}s.` : `Did you mean "${near}"?`;
    return { words: `There is no ${kind} "${name}" in the contract.`, remedy };
  }
  return {
    words: 'This example of JSON does not say what it is an example of.',
    remedy: 'Write ```json example=KeyReadOnly, an example of the contract, or ```json schema=Key.',
  };
}
