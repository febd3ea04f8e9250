// Properties that hold for every comparison, whatever the documents.
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { compareDocuments } from '../../../scripts/contract-diff/compare-documents.ts';
import { compareSchema } from '../../../scripts/contract-diff/compare-schema.ts';
import { newComparison, newFindings, spotOf } from '../../../scripts/contract-diff/comparison.ts';
import { objectOf } from '../../../scripts/contract-diff/json.ts';
import type { Direction } from '../../../scripts/contract-diff/rules.ts';
import { isObject, type Json } from '../../../src/contract/document.ts';
import { contract } from './composed-cases.ts';

/** Returns the value with its keys in another order at every level. */
function reorder(value: unknown, order: (names: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => reorder(item, order));
  if (!isObject(value)) return value;
  return Object.fromEntries(order(Object.keys(value)).map((name) => [name, reorder(value[name], order)]));
}

/** Returns every place in the document, as a path of keys. */
function pathsIn(value: unknown, steps: readonly string[] = []): (readonly string[])[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [steps, ...inner.flatMap(([name, member]) => pathsIn(member, [...steps, name]))];
}

function withoutAt(value: unknown, [step, ...rest]: readonly string[]): unknown {
  const isLast = rest.length === 0;
  if (Array.isArray(value))
    return value.flatMap((item, i) => (String(i) !== step ? [item] : isLast ? [] : [withoutAt(item, rest)]));
  if (!isObject(value) || step === undefined) return value;
  const { [step]: member, ...others } = value;
  return isLast ? others : { ...others, [step]: withoutAt(member, rest) };
}

test('a document equals itself in any order of its keys', () => {
  const anyOrder = fc.infiniteStream(fc.nat());
  fc.assert(
    fc.property(anyOrder, (numbers) => {
      const rank = () => Number(numbers.next().value);
      const shuffled = (names: string[]) =>
        names
          .map((name) => ({ name, rank: rank() }))
          .sort((one, other) => one.rank - other.rank)
          .map(({ name }) => name);
      const other = reorder(contract, shuffled);
      expect(isObject(other) && compareDocuments(contract, other)).toEqual([]);
    }),
    { numRuns: 3 },
  );
});

// If the comparison missed a difference, a breaking change would be published without notice.
test('the comparison finds every removal from the contract and every addition', () => {
  const NO_CHANGE = /^info,version$/;
  const paths = pathsIn(contract).filter((path) => path.length > 0 && !NO_CHANGE.test(path.join()));
  fc.assert(
    fc.property(fc.constantFrom(...paths), (path) => {
      const other = withoutAt(contract, path);
      if (!isObject(other)) throw new Error('A document is an object.');
      // Removing a whole component would leave dangling references, which the linter refuses.
      if (path[0] === 'components' && path.length <= 3) return;
      expect(compareDocuments(contract, other)).not.toEqual([]);
      expect(compareDocuments(other, contract)).not.toEqual([]);
    }),
    { numRuns: 40 },
  );
});

const text = fc.constantFrom('', 'a', 'b', 'abc', 'abcdef');
const anyValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.constantFrom(null, true, false, -1, 0, 1, 2.5, 7),
    text,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

const bound = fc.integer({ min: 0, max: 4 });
const type = fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object');
const anySchema = fc.letrec<{ schema: Json | boolean }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    fc.constantFrom({}, true, false, { $ref: '#/components/schemas/One' }, { $ref: '#/components/schemas/Tree' }),
    fc.record({ type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })) }),
    fc.record({ enum: fc.uniqueArray(fc.constantFrom(null, 0, 1, 'a', 'b'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ const: fc.constantFrom(null, 0, 1, 'a') }),
    fc.record(
      { type: fc.constant('string'), minLength: bound, maxLength: bound, pattern: fc.constantFrom('^a', 'b') },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      {
        type: fc.constantFrom('integer', 'number'),
        minimum: bound,
        maximum: bound,
        exclusiveMinimum: bound,
        multipleOf: fc.constantFrom(1, 2),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      { type: fc.constant('array'), items: tie('schema'), minItems: bound, maxItems: bound, uniqueItems: fc.boolean() },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema'), { maxKeys: 2, noNullPrototype: true }),
        required: fc.uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2 }),
        additionalProperties: tie('schema'),
        propertyNames: fc.constantFrom({ maxLength: 1 }, { enum: ['a', 'b'] }),
        maxProperties: bound,
      },
      { requiredKeys: ['type'] },
    ),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
  ),
})).schema;

/** Generates two schemas. One is often derived from the other, as a new version is. */
const twoSchemas = fc
  .tuple(anySchema, anySchema, fc.nat(5), fc.boolean())
  .map(([one, other, way, isTurned]): [Json | boolean, Json | boolean] => {
    const [node, more] = [objectOf(one), objectOf(other)];
    const [, ...rest] = Object.entries(node);
    const ways = [
      other,
      { ...node, ...more },
      { allOf: [one, other] },
      { anyOf: [one, other] },
      { oneOf: [one, other] },
    ];
    const made = ways[way] ?? Object.fromEntries(rest);
    return isTurned ? [made, one] : [one, made];
  });

const COMPONENTS = {
  components: {
    schemas: {
      One: { type: ['string', 'null'], maxLength: 3 },
      Tree: { type: 'object', properties: { a: { $ref: '#/components/schemas/Tree' } }, additionalProperties: false },
    },
  },
};

function verdictOf(before: unknown, after: unknown, direction: Direction) {
  const findings = newFindings();
  const spot = spotOf('A schema');
  compareSchema(newComparison(COMPONENTS, COMPONENTS, findings), { spot, direction, before, after });
  return findings.changes();
}

const ajv = new Ajv2020({ strict: false, validateSchema: false });

function validatorOf(schema: Json | boolean): (value: unknown) => boolean {
  return ajv.compile(typeof schema === 'boolean' ? schema : { ...COMPONENTS, allOf: [schema] });
}

// Ajv does not know our rules. If a value is valid in only one of the schemas, the change is breaking either for requests or for
// responses.
test('a narrower schema is breaking for requests, and a wider one for responses', () => {
  const counted = { less: 0, more: 0 };
  fc.assert(
    fc.property(twoSchemas, fc.array(anyValue, { minLength: 20, maxLength: 40 }), ([before, after], values) => {
      const [takesBefore, takesAfter] = [validatorOf(before), validatorOf(after)];
      const isBreaking = (direction: Direction) =>
        verdictOf(before, after, direction).some(({ verdict }) => verdict === 'breaking');
      const isLess = values.some((value) => takesBefore(value) && !takesAfter(value));
      const isMore = values.some((value) => takesAfter(value) && !takesBefore(value));
      if (isLess) expect(isBreaking('request')).toBe(true);
      // We define new response fields as additive, although a closed schema did not accept them before.
      const hasNewField = verdictOf(before, after, 'response').some(({ rule }) =>
        /^(required field added|field added|object opened)$/.test(rule),
      );
      if (isMore && !hasNewField) expect(isBreaking('response')).toBe(true);
      counted.less += Number(isLess);
      counted.more += Number(isMore && !hasNewField);
    }),
    { numRuns: 300 },
  );
  // The test is meaningful only if the values distinguish the schemas often enough.
  expect(Math.min(counted.less, counted.more)).toBeGreaterThan(50);
});
