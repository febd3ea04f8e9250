// Holds answers against the document, by a way of its own: it shares no code with what makes them.
import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isOfPath, type Json, type Operation, operationsOf, type Response, resolve } from './document.ts';

export type Asked = { readonly method: string; readonly url: string };
/** Headers by lower-case name. */
export type Answered = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
};

export type Finding = {
  /** The operations of which this is an answer: several, where none of the path's takes the method. */
  readonly operations: readonly Operation[];
  /** What the contract does not show, a sentence each. They hold no value of a header or a body that is not shown. */
  readonly disagreements: readonly string[];
};

export type ConformityCheck = (asked: Asked, answered: Answered) => Finding;

/** Headers of the connection, not of the API. */
const OF_TRANSPORT = new Set([
  'date',
  'connection',
  'keep-alive',
  'content-length',
  'content-type',
  'transfer-encoding',
]);

/** One wrong schema can fail in a hundred rows. */
const MOST_ERRORS = 5;

export function createConformityCheck(document: Json): ConformityCheck {
  const operations = operationsOf(document);
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  formats.default(ajv);
  const unknownPath: Record<string, Response> = {
    404: resolve(document, { $ref: '#/components/responses/NotFoundException' }),
    414: resolve(document, { $ref: '#/components/responses/UriTooLongException' }),
  };

  return (asked, answered) => {
    const path = asked.url.split('?', 1)[0] ?? '';
    const method = asked.method === 'HEAD' ? 'get' : asked.method.toLowerCase();
    const here = operations.filter((operation) => isOfPath(operation.path, path));
    const own = here.filter((operation) => operation.method === method);
    // Another method on a known path is shown by the operations that the path has.
    const shownBy = own.length > 0 ? own : here;
    if (here.length === 0 && unknownPath[answered.status] === undefined)
      return { operations: [], disagreements: ['the contract does not show this path.'] };
    const responses = here.length === 0 ? [unknownPath] : shownBy.map((operation) => operation.responses);
    const found = responses.flatMap((each) => disagreementsWith(ajv, each[answered.status], asked, answered));
    return { operations: shownBy, disagreements: [...new Set(found)] };
  };
}

function disagreementsWith(ajv: Ajv2020, response: Response | undefined, asked: Asked, answered: Answered): string[] {
  if (response === undefined) return [`the contract does not show the status ${answered.status}.`];
  return [...inHeaders(ajv, response, answered), ...inBody(ajv, response, { ...answered, isHead: isHead(asked) })];
}

function isHead({ method }: Asked): boolean {
  return method === 'HEAD';
}

function inHeaders(ajv: Ajv2020, { headers = {} }: Response, { headers: actual }: Answered): string[] {
  const shown = new Map(Object.entries(headers).map(([name, header]) => [name.toLowerCase(), header]));
  const missing = Object.entries(headers)
    .filter(([name, { required }]) => required === true && actual[name.toLowerCase()] === undefined)
    .map(([name]) => `the header ${name} is missing.`);
  const wrong = Object.entries(actual).flatMap(([name, value]) => {
    if (OF_TRANSPORT.has(name)) return [];
    const header = shown.get(name);
    if (header === undefined) return [`the contract does not show the header ${name}.`];
    const typed = header.schema['type'] === 'integer' ? Number(value) : value;
    return ajv.validate(header.schema, typed) ? [] : [`the header ${name} ${wordsOf(ajv.errors)}.`];
  });
  return [...missing, ...wrong];
}

function inBody(
  ajv: Ajv2020,
  { content }: Response,
  { headers, text, isHead }: Answered & { isHead: boolean },
): string[] {
  const type = headers['content-type'];
  if (content === undefined) {
    return text === '' && type === undefined ? [] : ['the contract shows no body, but there is one.'];
  }
  if (type !== 'application/json; charset=utf-8') {
    return [`the content type is ${type ?? 'missing'}, not application/json; charset=utf-8.`];
  }
  if (isHead) return text === '' ? [] : ['an answer to HEAD has a body.'];
  const body = parse(text);
  if (body === undefined) return ['the body is not readable JSON.'];
  const isShown = ajv.validate(content['application/json']?.schema ?? false, body);
  return isShown ? [] : [`the body ${wordsOf(ajv.errors)}.`];
}

function wordsOf(errors: readonly ErrorObject[] | null | undefined): string {
  const words = (errors ?? []).map(({ instancePath, message, params }) => {
    const unknown = params['additionalProperty'];
    return `${instancePath} ${message}${unknown === undefined ? '' : ` (${unknown})`}`.trim();
  });
  return words.slice(0, MOST_ERRORS).join(', ');
}

/** Undefined, which JSON cannot say: it is not readable. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
