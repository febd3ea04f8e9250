import { isNode, type Node, nameOf, type Place, type Rule, report } from '../rule.ts';

// What has no bound is read, kept and answered in any size; and the reader cannot tell what fits.

export const bounded: Rule = {
  name: 'bounded',
  visitor: {
    Schema(schema, context) {
      const missing = missingBound(schema);
      if (missing !== null) report(context, { at: context.location.key(), ...words(missing, context.location) });
    },
  },
  mistakes: [
    {
      replace: '            maximum: 100\n',
      by: '',
      says: 'This number has no largest value.',
    },
    {
      replace: '          maxLength: 200\n',
      by: '',
      says: '"title" has no longest length.',
    },
    {
      replace: '          maxItems: 100\n',
      by: '',
      says: '"data" has no largest number of entries.',
    },
    {
      replace: '      additionalProperties: false # of a book\n',
      by: '',
      says: '"Book" takes any other field.',
    },
  ],
};

type Missing = keyof typeof WORDS;

const WORDS = {
  length: ['has no longest length', 'Add "maxLength:", or list the values that it takes under "enum:".'],
  smallest: ['has no smallest value', 'Add "minimum:".'],
  largest: ['has no largest value', 'Add "maximum:".'],
  entries: ['has no largest number of entries', 'Add "maxItems:".'],
  fields: [
    'takes any other field',
    'Add "additionalProperties: false"; or, where any field is meant, "maxProperties:" and "propertyNames:".',
  ],
} as const;

const NOUNS: Record<Missing, string> = {
  length: 'text',
  smallest: 'number',
  largest: 'number',
  entries: 'list',
  fields: 'object',
};

function missingBound(schema: Node): Missing | null {
  const types = [schema['type']].flat();
  const lacks = (...names: string[]) => !names.some((name) => schema[name] !== undefined);
  if (types.includes('string') && lacks('maxLength', 'enum', 'const')) return 'length';
  if (types.includes('integer') || types.includes('number')) {
    if (lacks('minimum', 'exclusiveMinimum', 'enum', 'const')) return 'smallest';
    if (lacks('maximum', 'exclusiveMaximum', 'enum', 'const')) return 'largest';
  }
  if (types.includes('array') && lacks('maxItems')) return 'entries';
  const isOpen = schema['additionalProperties'] !== false && (lacks('maxProperties') || !isNode(schema['propertyNames']));
  return types.includes('object') && isOpen ? 'fields' : null;
}

function words(missing: Missing, place: Place): { words: string; remedy: string } {
  const [what, remedy] = WORDS[missing];
  const isNamed = /^#\/$|\/(properties|schemas)\/[^/]+$/.test(place.pointer);
  return { words: `${isNamed ? `"${nameOf(place)}"` : `This ${NOUNS[missing]}`} ${what}.`, remedy };
}
