import { applyPatch, contentOf, isSameContent, type ParentProgram } from '../../src/domain/parent-program.ts';

const PROGRAM: ParentProgram = {
  id: '019df30f-b339-734b-82ec-629b4675da22',
  name: 'Nordic',
  description: 'Abroad',
  externalId: 'NOR-1',
  metadata: { a: 'b' },
  createdAt: '2026-05-04T12:00:00.000Z',
  updatedAt: '2026-05-04T12:00:00.000Z',
};
const { name, description, externalId, metadata } = PROGRAM;
const CONTENT = { name, description, externalId, metadata };

test('an empty patch changes nothing', () => {
  expect(applyPatch(PROGRAM, {})).toEqual(CONTENT);
});

test('a field in the patch replaces the value, and a missing field keeps it', () => {
  expect(applyPatch(PROGRAM, { name: 'Alpine' })).toEqual({ ...CONTENT, name: 'Alpine' });
  expect(applyPatch(PROGRAM, { description: '' })).toEqual({ ...CONTENT, description: '' });
});

test('null clears an optional field', () => {
  expect(applyPatch(PROGRAM, { description: null, externalId: null })).toEqual({
    ...CONTENT,
    description: null,
    externalId: null,
  });
});

// The cases of RFC 7396 appendix A that flat metadata can express: current, patch, result.
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
  expect(applyPatch({ ...PROGRAM, metadata: current }, { metadata: patch }).metadata).toEqual(expected);
});

// The attack: an entry named "__proto__" that is lost, or that changes the prototype of every object.
test('an entry named __proto__ is kept, changed and removed like any other', () => {
  const kept = applyPatch(PROGRAM, { metadata: JSON.parse('{"__proto__":"x","constructor":"y"}') });
  expect(JSON.stringify(kept.metadata)).toBe('{"a":"b","__proto__":"x","constructor":"y"}');
  const removed = applyPatch(
    { ...PROGRAM, ...kept },
    { metadata: JSON.parse('{"__proto__":null,"constructor":null}') },
  );
  expect(removed).toEqual(CONTENT);
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  expect('x' in {}).toBe(false);
});

test('applying a patch does not modify the original', () => {
  const before = structuredClone(PROGRAM);
  applyPatch(PROGRAM, { name: 'Alpine', metadata: { a: null, b: 'c' } });
  expect(PROGRAM).toEqual(before);
});

test('content is equal regardless of the order of metadata, and differs in every other respect', () => {
  const two = { ...CONTENT, metadata: { a: '1', b: '2' } };
  expect(isSameContent(two, { ...CONTENT, metadata: { b: '2', a: '1' } })).toBe(true);
  const different = [
    { ...two, name: 'Nordic ' },
    { ...two, description: null },
    { ...two, externalId: null },
    { ...two, metadata: { a: '1' } },
    { ...two, metadata: { a: '2', b: '1' } },
    { ...two, metadata: { 'a","1': 'b' } },
  ];
  for (const other of different) expect(isSameContent(two, other)).toBe(false);
  expect(new Set(different.map(contentOf)).size).toBe(different.length);
});

test('null and an empty text are different content', () => {
  expect(isSameContent({ ...CONTENT, description: null }, { ...CONTENT, description: '' })).toBe(false);
});
