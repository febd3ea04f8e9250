import { applyPatch } from '../../../src/domain/resources/merge-patch.ts';

type Content = {
  name: string;
  description: string | null;
  externalId: string | null;
  isOpen: boolean;
  metadata: Record<string, string>;
};
const CONTENT: Content = {
  name: 'Nordic',
  description: 'Abroad',
  externalId: 'NOR-1',
  isOpen: true,
  metadata: { a: 'b' },
};

test('an empty patch changes nothing', () => {
  expect(applyPatch(CONTENT, {})).toEqual(CONTENT);
});

test('a field in the patch replaces the value, and a missing field keeps it', () => {
  expect(applyPatch(CONTENT, { name: 'Alpine' })).toEqual({ ...CONTENT, name: 'Alpine' });
  expect(applyPatch(CONTENT, { description: '' })).toEqual({ ...CONTENT, description: '' });
  expect(applyPatch(CONTENT, { isOpen: false })).toEqual({ ...CONTENT, isOpen: false });
});

test('null clears an optional field', () => {
  expect(applyPatch(CONTENT, { description: null, externalId: null })).toEqual({
    ...CONTENT,
    description: null,
    externalId: null,
  });
});

// The cases of RFC 7396, appendix A, that flat metadata can express: current content, patch, result.
test.each<[Record<string, string>, Record<string, string | null> | null, Record<string, string>]>([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ e: '1' }, { a: '1', e: null }, { a: '1' }],
  [{}, { a: null }, {}],
  [{ a: 'foo' }, null, {}],
  [{ a: 'b' }, {}, { a: 'b' }],
  [{ a: 'b' }, { A: 'c' }, { a: 'b', A: 'c' }],
  [{}, { a: '' }, { a: '' }],
])('metadata %j patched with %j becomes %j', (current, patch, expected) => {
  expect(applyPatch({ ...CONTENT, metadata: current }, { metadata: patch }).metadata).toEqual(expected);
});

// The attack: an entry named "__proto__" that gets lost, or that changes the prototype of every object.
test('an entry named __proto__ is kept, changed and removed like any other', () => {
  const kept = applyPatch(CONTENT, { metadata: JSON.parse('{"__proto__":"x","constructor":"y"}') });
  expect(JSON.stringify(kept.metadata)).toBe('{"a":"b","__proto__":"x","constructor":"y"}');
  const removed = applyPatch(
    { ...CONTENT, ...kept },
    { metadata: JSON.parse('{"__proto__":null,"constructor":null}') },
  );
  expect(removed).toEqual(CONTENT);
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  expect('x' in {}).toBe(false);
});

test('applying a patch does not modify the original', () => {
  const before = structuredClone(CONTENT);
  applyPatch(CONTENT, { name: 'Alpine', metadata: { a: null, b: 'c' } });
  expect(CONTENT).toEqual(before);
});
