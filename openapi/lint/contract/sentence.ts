import { type Context, type Node, type Rule, report } from '../rule.ts';

export const sentence: Rule = {
  name: 'sentence',
  visitor: Object.fromEntries(
    [
      ...['Info', 'Tag', 'Server', 'ServerVariable', 'Operation', 'Parameter', 'RequestBody', 'Response'],
      ...['Header', 'Schema', 'Example', 'SecurityScheme'],
    ].map((object) => [object, check]),
  ),
  mistakes: [
    {
      replace: 'description: The title.',
      by: 'description: the title.',
      says: 'This description does not begin with a capital letter.',
    },
    {
      replace: 'description: The title.',
      by: 'description: The title',
      says: 'This description does not end with a full stop.',
    },
    { replace: 'summary: List books', by: 'summary: list books', says: 'This summary does not begin with a capital letter.' },
    { replace: 'summary: List books', by: 'summary: List books.', says: 'This summary ends with a full stop.' },
  ],
};

/** A piece of code may begin a sentence as it is. */
const BEGINNING = /^[`\p{Lu}]/u;

function check(node: Node, context: Context): void {
  for (const name of ['description', 'x-remedy']) {
    const text = node[name];
    if (typeof text !== 'string') continue;
    const say = (words: string, what: string) =>
      report(context, { at: context.location.child(name), words: `This ${name} ${words}.`, remedy: what });
    if (!BEGINNING.test(text)) say('does not begin with a capital letter', 'Write it in whole sentences.');
    if (!text.trimEnd().endsWith('.')) say('does not end with a full stop', 'Write it in whole sentences.');
  }
  // What is called summary within a schema is a field of somebody's.
  if (typeof node['summary'] !== 'string' || context.type.name === 'Schema') return;
  const at = context.location.child('summary');
  const remedyWords = 'A summary is a heading: a capital letter first, no full stop.';
  if (!BEGINNING.test(node['summary'])) {
    report(context, { at, words: 'This summary does not begin with a capital letter.', remedy: remedyWords });
  }
  if (node['summary'].endsWith('.') && context.type.name !== 'Info') {
    report(context, { at, words: 'This summary ends with a full stop.', remedy: remedyWords });
  }
}
