// Validates responses against the contract. This module shares only the JSON parser with the code that creates the responses, so
// that one bug cannot hide in both.
import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parseJson } from '../domain/resources/json.ts';
import {
  compareTemplates,
  isObject,
  isOfTemplate,
  type Json,
  type Operation,
  operationsOf,
  type Response,
  resolve,
  segmentsOf,
} from './document.ts';

export type CheckedRequest = { readonly method: string; readonly url: string };
/** A response to check. The names of its headers are in lower case. */
export type CheckedResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
};

export type Finding = {
  /** The operations to which this response may belong; all operations of the path if none has the method of the request. */
  readonly operations: readonly Operation[];
  /**
   * The differences from the contract, one sentence each. The sentences contain no values of headers or of the body, and no names
   * of fields that could be data.
   */
  readonly disagreements: readonly string[];
};

export type ConformityCheck = (request: CheckedRequest, response: CheckedResponse) => Finding;

/** Headers that belong to the connection or to every HTTP response, so the contract does not describe them. */
const OF_TRANSPORT = new Set([
  'date',
  'connection',
  'keep-alive',
  'content-length',
  'content-type',
  'transfer-encoding',
  // The security headers for browsers. The contract's description mentions them once, for all responses.
  'x-content-type-options',
  'strict-transport-security',
]);

/** The maximum number of errors that are reported. One wrong schema can cause an error in each of a hundred rows. */
const MOST_ERRORS = 5;

/**
 * Returns a function that checks responses. The schemas of a response are compiled when the response is checked for the first
 * time.
 */
export function createConformityCheck(document: Json): ConformityCheck {
  const compiledOf = responseCompiler();
  const names = propertyNamesIn(document);
  const operations = operationsOf(document).map((operation) => ({ operation, template: operation.path.split('/') }));
  const unknownPath: Record<string, Response> = {
    404: resolve(document, { $ref: '#/components/responses/NotFoundException' }),
    408: resolve(document, { $ref: '#/components/responses/RequestTimeoutException' }),
    414: resolve(document, { $ref: '#/components/responses/UriTooLongException' }),
    501: resolve(document, { $ref: '#/components/responses/NotImplementedException' }),
  };

  return (request, response) => {
    const path = segmentsOf(request.url.split('?', 1)[0] ?? '');
    const method = isHead(request) ? 'get' : request.method.toLowerCase();
    const matching = operations.filter(({ template }) => isOfTemplate(template, path));
    const [first] = matching.toSorted((a, b) => compareTemplates(a.template, b.template));
    const here = matching.filter(({ operation }) => operation.path === first?.operation.path);
    const own = here.filter(({ operation }) => operation.method === method);
    // In the contract, the 405 for an unsupported method is listed at every operation of the path.
    const shownBy = own.length > 0 ? own : here;
    if (here.length === 0 && unknownPath[response.status] === undefined)
      return { operations: [], disagreements: ['the contract does not show this path.'] };
    const responses = here.length === 0 ? [unknownPath] : shownBy.map(({ operation }) => operation.responses);
    const found = responses.flatMap((each) =>
      disagreementsWith(compiledOf(each[response.status]), { ...response, isHead: isHead(request), names }),
    );
    return { operations: shownBy.map(({ operation }) => operation), disagreements: [...new Set(found)] };
  };
}

/** The compiled schemas of a response. `validateBody` is `undefined` if the contract has no body for the response. */
type Compiled = {
  readonly headers: ReadonlyMap<string, CompiledHeader>;
  readonly validateBody: ValidateFunction | undefined;
};
type CompiledHeader = {
  readonly name: string;
  readonly isRequired: boolean;
  readonly isInteger: boolean;
  readonly validate: ValidateFunction;
};
/** A response that is being checked. `names` are the names of all properties in the contract. */
type Judged = CheckedResponse & { readonly isHead: boolean; readonly names: ReadonlySet<string> };

type Compile = (schema: Json | false) => ValidateFunction;

/** Returns a function that compiles a response of the contract, and returns `undefined` for `undefined`. */
function responseCompiler(): (response: Response | undefined) => Compiled | undefined {
  const validatorOf = schemaCompiler();
  const known = new Map<Response, Compiled>();
  return (response) => {
    if (response === undefined) return undefined;
    const compiled = known.get(response) ?? compile(response, validatorOf);
    known.set(response, compiled);
    return compiled;
  };
}

/** Returns a function that compiles schemas. Equal schemas, which many operations have, are compiled only once. */
function schemaCompiler(): Compile {
  // The schemas are not validated against the meta-schema, because the linter has done that.
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateSchema: false });
  formats.default(ajv);
  const known = new Map<string, ValidateFunction>();
  return (schema) => {
    const text = JSON.stringify(schema);
    const validate = known.get(text) ?? ajv.compile(schema === false ? schema : closeSchema(schema));
    known.set(text, validate);
    return validate;
  };
}

const COMPOSITIONS: readonly string[] = ['allOf', 'anyOf', 'oneOf'];

/**
 * Returns a copy of the schema that does not allow additional properties. The published schemas allow them, because a later
 * version may add fields, and clients must ignore unknown fields. But this server must not send such fields. `$ref`s in the
 * schema must already be resolved.
 */
export function closeSchema(schema: Json): Json {
  const isComposed = COMPOSITIONS.some((name) => schema[name] !== undefined);
  const isOpen = schema['additionalProperties'] === undefined && (isComposed || isObject(schema['properties']));
  // `additionalProperties` does not know the properties of the schemas in allOf, anyOf or oneOf.
  const keyword = isComposed ? 'unevaluatedProperties' : 'additionalProperties';
  return isOpen ? { ...withClosedParts(schema), [keyword]: false } : withClosedParts(schema);
}

function withClosedParts(schema: Json): Json {
  const closedPart = ([name, value]: [string, unknown]) => {
    if (name === 'properties' && isObject(value)) return [name, mapMembers(value, closedOrBoolean)];
    if (name === 'items' || name === 'additionalProperties') return [name, closedOrBoolean(value)];
    if (COMPOSITIONS.includes(name) && Array.isArray(value)) return [name, value.map(openWithClosedParts)];
    return [name, value];
  };
  return Object.fromEntries(Object.entries(schema).map(closedPart));
}

/** Returns a closed copy of a schema. The schemas `true` and `false` are returned unchanged. */
function closedOrBoolean(schema: unknown): unknown {
  return isObject(schema) ? closeSchema(schema) : schema;
}

/** Returns a member of allOf, anyOf or oneOf. The member itself stays open, because the schema that contains it is closed. */
function openWithClosedParts(schema: unknown): unknown {
  return isObject(schema) ? withClosedParts(schema) : schema;
}

function mapMembers(object: Json, map: (member: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, map(member)]));
}

function compile({ headers = {}, content }: Response, validatorOf: Compile): Compiled {
  const compiled = Object.entries(headers).map(([name, { required, schema }]): [string, CompiledHeader] => [
    name.toLowerCase(),
    {
      name,
      isRequired: required === true,
      isInteger: schema['type'] === 'integer',
      validate: validatorOf(schema),
    },
  ]);
  return {
    headers: new Map(compiled),
    validateBody: content && validatorOf(content['application/json']?.schema ?? false),
  };
}

function disagreementsWith(response: Compiled | undefined, judged: Judged): string[] {
  if (response === undefined) return [`the contract does not show the status ${judged.status}.`];
  return [...inHeaders(response, judged), ...inBody(response, judged)];
}

function isHead({ method }: CheckedRequest): boolean {
  return method === 'HEAD';
}

function inHeaders({ headers: shown }: Compiled, { headers: actual, names }: Judged): string[] {
  const missing = [...shown]
    .filter(([name, { isRequired }]) => isRequired && actual[name] === undefined)
    .map(([, { name }]) => `the header ${name} is missing.`);
  const wrong = Object.entries(actual).flatMap(([name, value]) => {
    if (value === undefined || OF_TRANSPORT.has(name)) return [];
    const header = shown.get(name);
    if (header === undefined) return [`the contract does not show the header ${name}.`];
    const isShown = header.validate(header.isInteger ? Number(value) : value);
    return isShown ? [] : [`the header ${name} ${wordsOf(header.validate.errors, names)}.`];
  });
  return [...missing, ...wrong];
}

function inBody({ validateBody }: Compiled, { headers, text, isHead, names }: Judged): string[] {
  const type = headers['content-type'];
  if (validateBody === undefined) {
    return text === '' && type === undefined ? [] : ['the contract shows no body, but there is one.'];
  }
  if (type !== 'application/json; charset=utf-8') {
    return [`the content type is ${type ?? 'missing'}, not application/json; charset=utf-8.`];
  }
  if (isHead) return text === '' ? [] : ['the response to HEAD has a body.'];
  const body = parse(text);
  if (body === undefined) return ['the body is not readable JSON.'];
  return validateBody(body) ? [] : [`the body ${wordsOf(validateBody.errors, names)}.`];
}

function wordsOf(errors: readonly ErrorObject[] | null | undefined, names: ReadonlySet<string>): string {
  const words = (errors ?? []).map(({ instancePath, message, params }) => {
    const unknown = params['additionalProperty'] ?? params['unevaluatedProperty'];
    const place = instancePath
      .split('/')
      .map((step) => (names.has(step) || /^\d{0,3}$/.test(step) ? step : '…'))
      .join('/');
    return `${place} ${message}${unknown === undefined ? '' : ` (${nameOf(unknown)})`}`.trim();
  });
  return words.slice(0, MOST_ERRORS).join(', ');
}

/** Returns the name of a field, or "…" if the name is not an identifier, because it may be a customer's data or an API key. */
function nameOf(field: string): string {
  return /^\w{1,40}$/.test(field) ? field : '…';
}

function propertyNamesIn(value: unknown): Set<string> {
  if (value === null || typeof value !== 'object') return new Set();
  const own = 'properties' in value ? Object.keys(Object(value.properties)) : [];
  return new Set([...own, ...Object.values(value).flatMap((member) => [...propertyNamesIn(member)])]);
}

/** Parses JSON. Returns `undefined` if the text is not valid JSON. */
function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
