// Generates texts that a schema allows, from its limits, its pattern and its format.
import fc from 'fast-check';
import type { Json } from '../../src/contract/document.ts';
import { isAllowed } from './allowed.ts';

/**
 * Characters that often cause bugs: quotes, wildcards, bidirectional marks, and characters of several UTF-16 units. Contains
 * plain characters, too.
 */
const ODD = [
  ...'a Zé_%\\\'"<&;\t\n0-/.~',
  '\u00df',
  '\u0130',
  '\u0301',
  '\u202e',
  '\ufeff',
  '\ufffd',
  '\u{1f469}',
  '\u200d',
];
const ALPHABETS = [
  fc.constantFrom(...ODD),
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  fc.constantFrom(...'abcXYZ019-_'),
];

const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.uuid(),
  uri: fc.webUrl({ withQueryParameters: true, withFragments: true }),
  'date-time': fc
    .tuple(
      fc.date({ min: new Date('1000-01-02T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }),
      fc.constantFrom('', '.0', '.123', '.123456789'),
      fc.constantFrom('Z', '+00:00', '-00:00', '+05:30', '-12:00', '+23:59', '-23:59'),
      fc.boolean(),
    )
    .map(([date, fraction, offset, isLeap]) => {
      const seconds = date.toISOString().slice(0, 19);
      // A leap second (RFC 3339 section 5.7).
      return isLeap ? `${seconds.slice(0, 11)}23:59:60${fraction}Z` : `${seconds}${fraction}${offset}`;
    }),
};

/** The maximum length if the schema has none. */
const UNBOUNDED = 2000;

export function validText(schema: Json): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = UNBOUNDED, pattern, format } = schema;
  const [shortest, longest] = [Number(minLength), Number(maxLength)];
  const isValid = (text: string) => isAllowed({ ...schema, type: 'string' }, text);
  const bounds = { minLength: shortest, maxLength: Math.min(longest, 50) };
  const sources = [
    FORMATS[String(format)] ?? [],
    typeof pattern === 'string' ? fc.stringMatching(new RegExp(pattern, 'u')) : [],
    ALPHABETS.map((unit) => fc.string({ unit, ...bounds, minLength: Math.min(shortest, 50) })),
  ]
    .flat()
    .filter((source) => isOftenFine(source, isValid));
  if (sources.length === 0) throw new Error(`Nobody has said how to make a text of ${JSON.stringify(schema)}.`);
  const length = fc.constantFrom('any', 'any', 'any', 'longest', 'shortest');
  return fc.tuple(fc.oneof(...sources).filter(isValid), length, fc.nat()).map(([text, wanted, at]) => {
    const points = [...text];
    const other =
      wanted === 'longest'
        ? points.toSpliced(at % (points.length + 1), 0, ...padding(points, at, longest))
        : wanted === 'shortest'
          ? points.slice(0, shortest)
          : points;
    return isValid(other.join('')) ? other.join('') : text;
  });
}

/** Repeats a character of the text, so that the longer text usually still matches the pattern. */
function padding(points: readonly string[], at: number, length: number): string[] {
  const point = points[at % points.length] ?? 'x';
  return Array.from({ length: length - points.length }, () => point);
}

/** Returns whether at least a quarter of the generated texts are valid. If fewer are, filtering them takes too long. */
function isOftenFine(source: fc.Arbitrary<string>, isValid: (text: string) => boolean): boolean {
  const samples = fc.sample(source, { numRuns: 60, seed: 1 });
  return samples.filter(isValid).length >= samples.length / 4;
}
