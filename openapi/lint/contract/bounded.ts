import { isObject, type Json } from '../../../src/contract/document.ts';
import { isNamed, nameOf, type Place, type Rule, report } from '../rule.ts';

// Without bounds, the server would have to read, store and return values of any size, and API users could not know the limits.

export const bounded: Rule = {
  name: 'bounded',
  visitor: {
    Schema(schema, context) {
      const missing = missingBound(schema);
      if (missing !== null) report(context, { at: context.location.key(), ...adviceFor(missing, context.location) });
    },
  },
  mistakes: [
    {
      find: '            maximum: 100\n',
      replace: '',
      says: 'This number has no maximum.',
    },
    {
      find: '          maxLength: 200\n',
      replace: '',
      says: '"title" has no maximum length.',
    },
    {
      find: '          maxItems: 100\n',
      replace: '',
      says: '"data" has no maximum number of items.',
    },
    {
      find: '      properties:\n        shelf: # of a book\n          type: string\n          description: The shelf.\n          maxLength: 200\n          examples: [B 12]\n        id:\n          type: string\n          description: The id.\n          maxLength: 36\n          examples: ["1"]\n',
      replace: '',
      says: '"BookPlace" allows any field.',
    },
  ],
};

type Missing = keyof typeof ADVICE;

const ADVICE = {
  length: ['has no maximum length', 'Add "maxLength:", or list the allowed values under "enum:".'],
  smallest: ['has no minimum', 'Add "minimum:".'],
  largest: ['has no maximum', 'Add "maximum:".'],
  entries: ['has no maximum number of items', 'Add "maxItems:".'],
  fields: [
    'allows any field',
    'List the fields under "properties:" or, to allow any field, add "maxProperties:" and "propertyNames:".',
  ],
} as const;

const NOUNS: Record<Missing, string> = {
  length: 'string',
  smallest: 'number',
  largest: 'number',
  entries: 'array',
  fields: 'object',
};

function missingBound(schema: Json): Missing | null {
  const types = [schema['type']].flat();
  const lacks = (...names: string[]) => !names.some((name) => schema[name] !== undefined);
  if (types.includes('string') && lacks('maxLength', 'enum', 'const')) return 'length';
  if (types.includes('integer') || types.includes('number')) {
    if (lacks('minimum', 'exclusiveMinimum', 'enum', 'const')) return 'smallest';
    if (lacks('maximum', 'exclusiveMaximum', 'enum', 'const')) return 'largest';
  }
  if (types.includes('array') && lacks('maxItems')) return 'entries';
  const isOpen = lacks('properties') && (lacks('maxProperties') || !isObject(schema['propertyNames']));
  return types.includes('object') && isOpen ? 'fields' : null;
}

function adviceFor(missing: Missing, place: Place): { message: string; remedy: string } {
  const [what, remedy] = ADVICE[missing];
  return { message: `${isNamed(place) ? `"${nameOf(place)}"` : `This ${NOUNS[missing]}`} ${what}.`, remedy };
}
