import type { ErrorObject } from 'ajv';
import type { Document, OpenAPIValidator } from 'openapi-backend';
import { isObject } from '../contract/document.ts';
import { DomainError, type ErrorCode } from '../domain/errors.ts';
import { maskKeys } from '../domain/keys/api-key.ts';
import { impossiblePartOf } from '../domain/resources/instant.ts';
import { formatCount, isText } from '../domain/text.ts';
import type { ApiRequest } from './api-request.ts';
import type { ContractRouter } from './contract-router.ts';
import { clip, MAX_FIELDS, MAX_MESSAGE } from './exceptions.ts';
import type { RefusalOf } from './operation.ts';

// Turns Ajv's errors into the `errors` of a 422: the names of the fields, with one message for each cause.

/** The maximum number of messages for a field, and the maximum length of a field's name, in `errors`, as in the contract. */
const MAX_MESSAGES = 10;
const MAX_NAME = 255;

/** The names that an operation accepts. `headerNames` maps a name in lower case to the spelling in the contract. */
export type Vocabulary = {
  queryNames: readonly string[];
  headerNames: ReadonlyMap<string, string>;
  /** The thing to which the fields belong, as the message names it. Default: "this request". */
  subject?: string;
};

export class Violations {
  readonly #fields = new Map<string, string[]>();

  add(field: string, message: string): void {
    // An API key that was sent as the name of a field is masked, because responses are often logged.
    const name = clip(maskKeys(field), MAX_NAME) || '(no name)';
    if (!this.#fields.has(name) && this.#fields.size >= MAX_FIELDS) return;
    const messages = this.#fields.get(name) ?? [];
    if (messages.length < MAX_MESSAGES && !messages.includes(message)) messages.push(clip(message, MAX_MESSAGE));
    this.#fields.set(name, messages);
  }

  addAll(errors: readonly ErrorObject[], vocabulary: Vocabulary): void {
    for (const error of onePerValue(errors)) this.add(fieldOf(error, vocabulary), messageOf(error, vocabulary));
  }

  throwIfAny(): void {
    const refusal = this.refusal();
    if (refusal !== null) throw refusal;
  }

  /** Returns the refusal, or `null` if no violation was added. */
  refusal(code: ErrorCode = 'invalid'): DomainError | null {
    const [first] = this.#fields;
    if (first === undefined) return null;
    const others = this.#fields.size - 1;
    const more = others === 0 ? '' : ` See errors for ${formatCount(others, 'more field')}.`;
    const problem = first[1][0] ?? 'is not valid.';
    // A message that begins with a capital letter is a sentence of its own, and does not continue the name of the field.
    const message = `${first[0]}${/^[A-Z]/.test(problem) ? ':' : ''} ${problem}${more}`;
    return new DomainError(code, message, Object.fromEntries(this.#fields));
  }
}

const NO_ERRORS: readonly ErrorObject[] = [];

/**
 * Throws a 422 that names each invalid field and the remedy, unless the request is valid. `found` are the errors of the
 * contract's schemas.
 */
export function requireValid(request: ApiRequest, found: readonly ErrorObject[]): void {
  const { repeatedFields, isKnownValid, operation } = request;
  // Schemas cannot find these mistakes. The parser keeps only one value of a repeated field, and no pattern of the contract
  // excludes NUL or surrogates.
  const textErrors = isKnownValid ? NO_ERRORS : textErrorsOf(request);
  if (found.length === 0 && textErrors.length === 0 && repeatedFields.length === 0) return;
  const { repeated } = request;
  const violations = new Violations();
  for (const name of [...repeated, ...repeatedFields])
    violations.add(name, 'is sent more than once. Send it only once.');
  const places = new Set(repeated.map((name) => `/query/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`));
  violations.addAll(
    [...found, ...textErrors].filter(({ instancePath }) => !places.has(instancePath)),
    operation,
  );
  violations.throwIfAny();
  throw new Error('Validation failed without an error.');
}

/** Returns a function that validates the input of a change in a batch like the input of a single request. */
export function createRefusalOf(validator: OpenAPIValidator<Document>, router: ContractRouter): RefusalOf {
  return (operationId, { path, headers, body }) => {
    const operation = router.getOperation(operationId);
    if (operation === undefined) throw new Error(`The contract has no operation ${operationId}.`);
    const parts = { path, query: {}, header: headers, cookie: {}, ...(body !== undefined && { requestBody: body }) };
    const found = (validator.getRequestValidatorsForOperation(operationId) ?? []).flatMap((validate) => {
      validate(parts);
      return validate.errors ?? [];
    });
    const violations = new Violations();
    violations.addAll([...found, ...invalidTextsIn({ path, requestBody: body })], operation);
    return violations.refusal();
  };
}

/**
 * The keywords of schemas, ordered by how much their errors help the client. An empty name, for example, is too short and does
 * not match the pattern; one of these errors is enough.
 */
const MOST_HELPFUL_FIRST = ['additionalProperties', 'type', 'enum', 'format', 'pattern', 'minLength', 'maxLength'];

/** Returns the most helpful error for each value and for each name of a member. */
function onePerValue(errors: readonly ErrorObject[]): Iterable<ErrorObject> {
  const kept = new Map<string, ErrorObject>();
  for (const error of errors) {
    // This error says only that a name is invalid. A separate error says why.
    if (error.keyword === 'propertyNames') continue;
    const subject = JSON.stringify([error.instancePath, error.propertyName ?? memberOf(error) ?? null]);
    const other = kept.get(subject);
    if (other === undefined || rankOf(error) < rankOf(other)) kept.set(subject, error);
  }
  return kept.values();
}

function rankOf({ keyword }: ErrorObject): number {
  const rank = MOST_HELPFUL_FIRST.indexOf(keyword);
  return rank < 0 ? MOST_HELPFUL_FIRST.length : rank;
}

/** Returns the name of the unknown or missing member of an object. */
function memberOf({ params }: ErrorObject): string | undefined {
  return params['additionalProperty'] ?? params['missingProperty'];
}

function fieldOf(error: ErrorObject, { headerNames }: Vocabulary): string {
  const [location, ...path] = error.instancePath.slice(1).split('/').map(unescapePointer);
  const member = memberOf(error) ?? error.propertyName;
  if (member !== undefined && !(location === '' && member === 'requestBody')) path.push(member);
  const name = path.join('.');
  if (location === 'header') return headerNames.get(name) ?? name;
  return name === '' && location !== 'query' ? 'body' : name;
}

function unescapePointer(text: string): string {
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

function messageOf(error: ErrorObject, vocabulary: Vocabulary): string {
  const { keyword, params, data, parentSchema = {}, propertyName } = error;
  if (propertyName !== undefined) return `has a name that ${messageOfText(error, propertyName)}`;
  switch (keyword) {
    case 'required':
      return 'is required.';
    case 'additionalProperties':
      return messageOfUnknown(error, vocabulary);
    case 'maxProperties':
      return `must have at most ${formatCount(params['limit'], 'entry', 'entries')}; it has ${Object.keys(Object(data)).length}.`;
    case 'minItems':
      return `must have at least ${formatCount(params['limit'], 'item')}; it has ${itemsIn(data)}.`;
    case 'maxItems':
      return `must have at most ${formatCount(params['limit'], 'item')}; it has ${itemsIn(data)}.`;
    case 'enum':
      return `must be one of: ${params['allowedValues'].join(', ')}.`;
    case 'type':
    case 'minimum':
    case 'maximum':
      return `must be ${describe(parentSchema)}.`;
    default:
      return messageOfText(error, String(data));
  }
}

function messageOfUnknown(
  { instancePath, parentSchema = {} }: ErrorObject,
  { queryNames, subject = 'this request' }: Vocabulary,
): string {
  if (instancePath !== '/query') {
    return `is not a field of ${subject}. Allowed fields: ${Object.keys(parentSchema['properties'] ?? {}).join(', ')}.`;
  }
  if (queryNames.length === 0) return 'is not allowed. This operation has no query parameters.';
  return `is not a parameter of this operation. Allowed parameters: ${queryNames.join(', ')}.`;
}

function messageOfText({ keyword, params, parentSchema = {}, message }: ErrorObject, text: string): string {
  const length = [...text].length;
  switch (keyword) {
    case 'minLength':
      if (length === 0 && params['limit'] === 1) return 'must not be empty.';
      return `must be at least ${formatCount(params['limit'], 'character')} long; it has ${length}.`;
    case 'maxLength':
      return `must be at most ${formatCount(params['limit'], 'character')} long; it has ${length}.`;
    case 'pattern':
    case 'format':
      if (keyword === 'pattern' && isRefusedAsBlank(text, params['pattern'])) return 'must not be blank.';
      if (params['format'] === 'date-time') {
        const impossible = impossiblePartOf(text);
        if (impossible !== null) return `is not valid. There is no ${impossible}.`;
      }
      return `is not valid. ${parentSchema['x-remedy'] ?? `It must match ${params['format'] ?? params['pattern']}.`}`;
    default:
      return `${message ?? 'is not valid'}.`;
  }
}

function itemsIn(data: unknown): number {
  return Array.isArray(data) ? data.length : 0;
}

/**
 * Returns whether the text is refused because it is blank, and not because of its format. A pattern that accepts a single letter
 * requires no special format.
 */
function isRefusedAsBlank(text: string, pattern: string): boolean {
  return text.trim() === '' && new RegExp(pattern, 'u').test('x');
}

const NOUNS: Record<string, string> = {
  boolean: 'true or false',
  integer: 'an integer',
  string: 'a string',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

/** Describes the allowed values, such as "a string or null" or "an integer from 1 to 100". */
function describe(schema: Record<string, unknown>): string {
  const kinds = [schema['type']].flat().map((type) => NOUNS[String(type)] ?? String(type));
  const { minimum, maximum } = schema;
  const range = minimum === undefined || maximum === undefined ? '' : ` from ${minimum} to ${maximum}`;
  return `${kinds.join(' or ')}${range}`;
}

/** Returns the errors of the strings in the request. In a batch, the strings of each change are validated separately. */
function textErrorsOf({ params, query, requestBody, operation: { countedField } }: ApiRequest): ErrorObject[] {
  const isBatch = countedField !== undefined && isObject(requestBody);
  const body = isBatch ? { ...requestBody, [countedField]: undefined } : requestBody;
  return invalidTextsIn({ path: params, query, requestBody: body });
}

const REMEDY = 'Remove NUL characters and unpaired surrogates.';

/**
 * Returns errors, as Ajv would, for the strings and names within a value that contain NUL or unpaired surrogates. A pattern of
 * the contract cannot exclude these, because most languages cannot compile a character class with surrogates.
 */
export function invalidTextsIn(whole: object): ErrorObject[] {
  const found: ErrorObject[] = [];
  // A loop is used in place of recursion, because a body of 100 KiB can be nested deeper than the stack allows.
  const left: { readonly value: unknown; readonly path: string }[] = [{ value: whole, path: '' }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && !isText(value)) found.push(errorOf(value, { instancePath: path }));
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value).reverse()) {
      if (!isText(name)) found.push(errorOf(name, { instancePath: path, propertyName: name }));
      else if (member !== null) left.push({ value: member, path: `${path}/${escapePointer(name)}` });
    }
  }
  return found;
}

function errorOf(data: string, place: Pick<ErrorObject, 'instancePath' | 'propertyName'>): ErrorObject {
  const parentSchema = { 'x-remedy': REMEDY };
  return { keyword: 'format', schemaPath: '', params: { format: 'text' }, data, parentSchema, ...place };
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
