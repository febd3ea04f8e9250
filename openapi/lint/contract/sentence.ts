import type { Json } from '../../../src/contract/document.ts';
import { type Context, type Rule, report } from '../rule.ts';

/** The OpenAPI objects that have a description or a summary. */
const OBJECTS = [
  'Info',
  'Tag',
  'Server',
  'ServerVariable',
  'Operation',
  'Parameter',
  'RequestBody',
  'Response',
  'Header',
  'Schema',
  'Example',
  'SecurityScheme',
];

export const sentence: Rule = {
  name: 'sentence',
  visitor: Object.fromEntries(OBJECTS.map((object) => [object, check])),
  mistakes: [
    {
      find: 'description: The title.',
      replace: 'description: the title.',
      says: 'This description does not begin with a capital letter.',
    },
    {
      find: 'description: The title.',
      replace: 'description: The title',
      says: 'This description does not end with a full stop.',
    },
    {
      find: 'summary: List books',
      replace: 'summary: list books',
      says: 'This summary does not begin with a capital letter.',
    },
    { find: 'summary: List books', replace: 'summary: List books.', says: 'This summary ends with a full stop.' },
  ],
};

/** Matches the beginning of a sentence: a capital letter, or code, which may begin with a lowercase letter. */
const BEGINNING = /^[`\p{Lu}]/u;

function check(node: Json, context: Context): void {
  for (const name of ['description', 'x-remedy']) {
    const text = node[name];
    if (typeof text !== 'string') continue;
    const complain = (problem: string) => {
      const message = `This ${name} ${problem}.`;
      report(context, { at: context.location.child(name), message, remedy: 'Write complete sentences.' });
    };
    if (!BEGINNING.test(text)) complain('does not begin with a capital letter');
    if (!text.trimEnd().endsWith('.')) complain('does not end with a full stop');
  }
  // A schema has no summary. Here, "summary" is the name of one of its properties.
  if (typeof node['summary'] !== 'string' || context.type.name === 'Schema') return;
  const at = context.location.child('summary');
  const remedy = 'Write it like a heading: with a capital letter, without a full stop.';
  if (!BEGINNING.test(node['summary'])) {
    report(context, { at, message: 'This summary does not begin with a capital letter.', remedy });
  }
  if (node['summary'].endsWith('.') && context.type.name !== 'Info') {
    report(context, { at, message: 'This summary ends with a full stop.', remedy });
  }
}
