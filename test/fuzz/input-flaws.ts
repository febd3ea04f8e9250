// Flaws of a request's input, each with the response that the request must get.
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { Operation } from '../support/contract/contract.ts';
import { maxBodyBytesOf } from '../support/contract/every-operation.ts';
import { type Change, encodings, flawedDraft, isSendable, withHeader } from './draft.ts';
import { validText } from './texts.ts';
import { encodePair, fillPath, MADE_BY_SERVER } from './valid-requests.ts';
import { validValue, wrongText, wrongValue } from './values.ts';

const ENCODED_WRONG = ['%', '%f', '%zz', '%ff', '%C3', '%ed%a0%80', '%c0%ae'];

/** Generates a flaw of the input. The server checks the input last, so any other flaw takes precedence. */
export function inputFlaw(operation: Operation): fc.Arbitrary<Change> {
  return fc.oneof(
    wrongAccept,
    wrongQuery(operation),
    ...wrongParameters(operation),
    ...wrongPath(operation),
    ...(operation.requestBody === undefined ? [] : wrongBodies(operation)),
  );
}

const wrongAccept: fc.Arbitrary<Change> = fc
  .constantFrom('text/html', 'application/json;q=0', 'application/xml, application/json;q=0, */*;q=0', 'x', 'a/b/c')
  .map((value) => flawedDraft(withHeader('Accept', value), { stage: 'input', status: 406 }));

function adding(pair: string): Change {
  return (draft) => ({ ...draft, query: [...draft.query, pair] });
}

function wrongQuery({ parameters = [] }: Operation): fc.Arbitrary<Change> {
  const known = new Set(parameters.filter(({ in: where }) => where === 'query').map(({ name }) => name));
  const likely = [...known].flatMap((name) => [name.toUpperCase(), `${name}[]`, ` ${name}`, `${name}s`]);
  const names = fc
    .oneof(
      fc.constantFrom('__proto__', 'constructor', 'verbose', ...likely),
      fc.string({ unit: 'grapheme', minLength: 1 }),
    )
    .filter((name) => !known.has(name) && name.isWellFormed());
  const unknown = names.chain((name) =>
    encodePair(name, 'x').map((pair) => flawedDraft(adding(pair), { stage: 'input', status: 422, field: name })),
  );
  const broken = fc
    .tuple(fc.constantFrom(...ENCODED_WRONG), fc.boolean())
    .map(([text, isName]) => flawedDraft(adding(isName ? `${text}=1` : `x=${text}`), { stage: 'input', status: 400 }));
  return fc.oneof(unknown, broken);
}

/**
 * Returns one flaw for each parameter: a value outside its schema, a repeated name, or a forged value of a parameter whose values
 * only the server issues.
 */
function wrongParameters({ parameters = [] }: Operation): fc.Arbitrary<Change>[] {
  return parameters.flatMap((parameter): fc.Arbitrary<Change>[] => {
    const { name, schema } = parameter;
    const flaw = { stage: 'input', status: 422, field: name } as const;
    if (parameter.in === 'header') {
      return [
        wrongText(schema)
          .filter(isSendable)
          .map((value) => flawedDraft(withHeader(name, value), flaw)),
      ];
    }
    if (parameter.in !== 'query') return [];
    const wrong = wrongText(schema).filter((text) => text.isWellFormed());
    const texts = MADE_BY_SERVER.has(name) ? fc.oneof(wrong, validText(schema)) : wrong;
    const replaced = texts
      .chain((text) => encodePair(name, text))
      .map((pair) => flawedDraft((draft) => adding(pair)(without(name)(draft)), flaw));
    const doubled: Change = (draft) => {
      const [pair = `${name}=x`] = draft.query.filter((each) => nameIn(each) === name);
      return adding(pair)(adding(pair)(without(name)(draft)));
    };
    return [replaced, fc.constant(flawedDraft(doubled, flaw))];
  });
}

function without(name: string): Change {
  return (draft) => ({ ...draft, query: draft.query.filter((pair) => nameIn(pair) !== name) });
}

function nameIn(pair: string): string {
  return [...new URLSearchParams(pair).keys()][0] ?? '';
}

function wrongPath({ path, parameters = [] }: Operation): fc.Arbitrary<Change>[] {
  return parameters
    .filter(({ in: where }) => where === 'path')
    .map(({ name, schema }) => {
      const misfit = wrongText(schema)
        .filter((text) => text !== '' && text.isWellFormed())
        .chain((text) => encodings(text, { isQuery: false }))
        .map((text) => ({ text, flaw: { stage: 'input', status: 422, field: name } as const }));
      const broken = fc
        .constantFrom(...ENCODED_WRONG)
        .map((text) => ({ text, flaw: { stage: 'input', status: 400 } as const }));
      return fc
        .oneof({ weight: 3, arbitrary: misfit }, { weight: 1, arbitrary: broken })
        .map(({ text, flaw }) =>
          flawedDraft((draft) => ({ ...draft, path: fillPath(path, new Map([[name, text]])) }), flaw),
        );
    });
}

/** Media types that some operations accept and others do not. */
const MEDIA_TYPES = [
  'text/plain',
  '',
  'x',
  'application/jsonx',
  'application/json; charset=latin1',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/merge-patch+json; charset=utf-16',
  'multipart/form-data',
];

function wrongBodies(operation: Operation): fc.Arbitrary<Change>[] {
  const { requestBody } = operation;
  const schema = requestBody?.content['application/json']?.schema ?? {};
  const sending =
    (body: string | Buffer | undefined): Change =>
    (draft) => ({ ...draft, body });
  const misfit = wrongValue(schema).map(({ value, path }) =>
    flawedDraft(sending(JSON.stringify(value)), { stage: 'input', status: 422, field: path.join('.') || 'body' }),
  );
  const unreadable = fc
    .oneof(
      fc.constantFrom(
        '{',
        'name=x',
        '{} {}',
        '{"name":"x",}',
        ' ',
        '[',
        '"',
        "{'name':'x'}",
        '{"name":NaN}',
        '\u00a0{}',
      ),
      fc.string({ minLength: 1 }).filter((text) => !isJson(text)),
      fc
        .uint8Array({ minLength: 1 })
        .map((bytes) => Buffer.concat([Buffer.from('{"name":"\xff'), Buffer.from([0xff]), bytes])),
    )
    .map((body) => flawedDraft(sending(body), { stage: 'input', status: 400 }));
  const repeated = validValue(schema)
    .filter((value) => Object.keys(Object(value)).length > 0)
    .chain((value) => fc.constantFrom(...Object.entries(Object(value))).map((member) => ({ value, member })))
    .map(({ value, member: [name, again] }) => {
      const body = `{${JSON.stringify(name)}: ${JSON.stringify(again)}, ${JSON.stringify(value).slice(1)}`;
      return flawedDraft(sending(body), { stage: 'input', status: 422, field: name });
    });
  const large = fc
    .integer({ min: 1, max: 100_000 })
    .map((more) => flawedDraft(sending(' '.repeat(maxBodyBytesOf(operation) + more)), { stage: 'input', status: 413 }));
  const unsupported = { stage: 'input', status: 415 } as const;
  const types = fc
    .constantFrom(...MEDIA_TYPES.filter((type) => requestBody?.content[type] === undefined))
    .map((type) => flawedDraft(withHeader('Content-Type', type), unsupported));
  const compressed = fc
    .constantFrom('gzip', 'br', 'x', 'gzip, identity')
    .map((encoding) =>
      flawedDraft(
        (draft) => withHeader('Content-Encoding', encoding)({ ...draft, body: draft.body && gzipSync(draft.body) }),
        unsupported,
      ),
    );
  // With the chunked encoding, the server does not know in advance that the body is empty.
  const nothing: Change = (draft) => {
    const headers = { ...draft.headers, 'Transfer-Encoding': undefined, 'Content-Length': '0' };
    return { ...draft, body: undefined, headers };
  };
  const none = fc.constant(flawedDraft(nothing, { stage: 'input', status: 422, field: 'body' }));
  return [misfit, misfit, repeated, unreadable, large, types, compressed, none];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
