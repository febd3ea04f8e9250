import fc from 'fast-check';
import { canonicalJson, parseJson, repeatedNamesIn } from '../../../src/domain/resources/json.ts';
import { expectLinearTime } from '../../support/linear-time.ts';

// While an object that was parsed from one of these texts is alive, V8's JSON.parse misreads the keys of later texts:
// https://github.com/nodejs/node/issues/63785
const poison: unknown[] = [];
for (const first of ['a', '\n', '']) poison.push(JSON.parse(`{${JSON.stringify(first)}:1,"\\\\":2}`));

test.each(['\\n', '\\"', '\\\\', '\\u00e9', '\\u005c', '\\ud83d\\ude00'])(
  'the key "%s" is parsed correctly',
  (escaped) => {
    const [text, key] = [
      `{"a":1,"${escaped}" : {"a":1,"${escaped}":[{"a":1,"${escaped}":"b"}]}}`,
      JSON.parse(`"${escaped}"`),
    ];
    const [value] = Object.values(Object(Object.values(parseJson(text))[1])).slice(1);
    expect(Object.keys(parseJson(text))).toEqual(['a', key]);
    expect(value).toEqual([{ a: 1, [key]: 'b' }]);
  },
);

test('parsing serialized JSON returns the original value', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ stringUnit: fc.constantFrom('a', '\\', '"', '\n', ':', '{', '}', ' ', 'é') }),
      (value) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(parseJson(text))).toBe(text);
      },
    ),
    { numRuns: 1000 },
  );
});

test('the last value of a duplicate key applies; "__proto__" is a key like any other', () => {
  const read = parseJson('{"\\n":1,"__proto__":"p","\\u000a":2,"\\u005f_proto__":"q"}');
  expect(Object.entries(read)).toEqual([
    ['\n', 2],
    ['__proto__', 'q'],
  ]);
});

test('the last value of a duplicate numeric key applies', () => {
  // An object lists its numeric keys first, whatever their order in the input.
  expect(parseJson('{"\\u0031":1,"1":2}')).toEqual({ 1: 2 });
  expect(parseJson('{"1":1,"\\u0031":2}')).toEqual({ 1: 2 });
});

test('a text may be nested as deeply as JSON.parse accepts', () => {
  const depth = 50_000;
  let value = parseJson(`{"\\n":${'['.repeat(depth)}${']'.repeat(depth)}}`)['\n'];
  for (let i = 1; i < depth; i += 1) [value] = value;
  expect(value).toEqual([]);
});

// The attack: a deep request body that blocks all other requests. The canonical text is hashed before a body is refused, and a
// change of a batch may be as deep as the body is long.
test('the canonical text is the same for every order of members, and for JSON of any depth', () => {
  const [first, second] = ['{"b":[1,{"d":null,"c":"é"}],"a":{}}', '{"a":{},"b":[1,{"c":"\\u00e9","d":null}]}'];
  expect(canonicalJson(parseJson(first))).toBe('{"a":{},"b":[1,{"c":"é","d":null}]}');
  expect(canonicalJson(parseJson(second))).toBe(canonicalJson(parseJson(first)));
  const deep = `${'{"a":['.repeat(50_000)}1${']}'.repeat(50_000)}`;
  expect(canonicalJson(parseJson(deep))).toBe(deep);
});

test('a text of unterminated strings is refused in time in proportion to its length', async () => {
  await expectLinearTime((size) => {
    expect(() => parseJson(`"${'\\"'.repeat(size)}`)).toThrow(SyntaxError);
  }, 40_000);
});

test.each(['{"\\n":1', '{"\\q":1}', '{"a\\":1}', '{"\\n" 1}', '{"a":"\\n":1}', '["\\n":1]', '{"\\\n":1}', '"\\n":'])(
  '%j is refused with the message of JSON.parse',
  (text) => {
    const refusal = (parse: (text: string) => unknown) => {
      try {
        return parse(text);
      } catch (error) {
        return String(error);
      }
    };
    expect(refusal(parseJson)).toMatch(/^SyntaxError/);
    expect(refusal(parseJson)).toBe(refusal(JSON.parse));
  },
);

test('a body of the maximum size that contains only escapes is parsed', () => {
  const [key, value] = ['\n'.repeat(25_000), '\\'.repeat(25_000)];
  expect(parseJson(JSON.stringify({ [key]: value }))).toEqual({ [key]: value });
});

describe('repeatedNamesIn', () => {
  test.each([
    ['{"a":1,"b":2}', []],
    ['{"a":1,"b":2,"a":3,"a":4}', ['a']],
    ['{"a":{"b":1,"b":2},"b":{"b":1}}', ['a.b']],
    ['[{"a":1},{"a":1,"a":2}]', ['1.a']],
    ['{"a":[[],[0,{"b":"c","c":"b","b":1}]]}', ['a.1.1.b']],
    ['{"a":"\\\\","b":"\\"a\\":","a":1}', ['a']],
    ['{"\\u0061" : 1 , "a" : "a"}', ['a']],
    ['"a"', []],
    ['[]', []],
  ])('in %s: %j', (text, names) => {
    expect(repeatedNamesIn(text, 10)).toEqual(names);
  });

  test('none in serialized JSON, and each name that is written again', () => {
    const value = fc.jsonValue({ stringUnit: fc.constantFrom('a', '\\', '"', '\n', ':', ',', '{', '}', '[', 'é') });
    fc.assert(
      fc.property(value, fc.string(), (inner, name) => {
        const text = JSON.stringify(inner);
        expect(repeatedNamesIn(text, 10)).toEqual([]);
        const quoted = JSON.stringify(name);
        expect(repeatedNamesIn(`{${quoted}:${text},${quoted}:${text}}`, 10)).toEqual([name]);
      }),
      { numRuns: 1000 },
    );
  });

  // The attack: a request body whose parsing takes so long that it blocks all other requests.
  test.each<[string, (size: number) => string]>([
    ['objects in objects', (size) => `${'{"a":'.repeat(size)}1${'}'.repeat(size)}`],
    ['backslashes', (size) => JSON.stringify({ a: '\\'.repeat(5 * size) })],
    ['quotation marks', (size) => JSON.stringify({ a: '"'.repeat(5 * size) })],
    ['names', (size) => JSON.stringify(Object.fromEntries(Array.from({ length: size }, (_, i) => [`name ${i}`, i])))],
    ['repeated names', (size) => `{${Array(size).fill('"a":1').join()}}`],
    [
      'repeated names in nested arrays',
      (size) => `${'['.repeat(size)}{${Array(size).fill('"a":1').join()}}${']'.repeat(size)}`,
    ],
    ['spaces', (size) => `{${' '.repeat(10 * size)}}`],
  ])('takes time in proportion to a text of many %s', async (_, textOf) => {
    await expectLinearTime((size) => repeatedNamesIn(textOf(size), 100), 15_000);
  });
});
