import type { IncomingHttpHeaders } from 'node:http';
import type { Operation } from 'openapi-backend';
import type { operations, webhooks } from '../../generated/openapi.d.ts';
import type { Caller } from '../domain/audit/actor.ts';
import type { DomainError } from '../domain/errors.ts';
import type { Database } from '../store/sql/database.ts';
import type { KeyUses } from '../traffic/last-used.ts';
import type { HandlerResult, JsonText } from './response.ts';

/** An operation of openapi-backend, with properties that every request needs and that are computed once, at startup. */
export type ContractOperation = Operation & {
  readonly operationId: string;
  /** A key needs at least one of these permissions. The list is empty if every key may call the operation. */
  readonly permissions: readonly string[];
  readonly pathNames: readonly string[];
  readonly queryParameters: ReadonlyMap<string, QueryParameter>;
  readonly queryNames: readonly string[];
  /** The spellings of header names in the contract, by the header name in lower case. */
  readonly headerNames: ReadonlyMap<string, string>;
  readonly hasBody: boolean;
  /** The media types of the body, in the order of the contract. */
  readonly mediaTypes: readonly string[];
  /** The size of the largest body, from "x-max-bytes". */
  readonly maxBodyBytes: number;
  /** The name of the array in the body whose items count as requests. The contract marks it with "x-counts-as-requests". */
  readonly countedField: string | undefined;
  /** Whether the contract has an ETag header in the successful response. */
  readonly hasEntityTag: boolean;
  /** Whether the contract has a 304 response. */
  readonly isConditional: boolean;
  /**
   * Whether the response cache may keep the responses for which the handler returns a version. `false` for an operation that
   * requires no permission, because it shows the key itself, and for an operation with a header parameter other than
   * If-None-Match, because that header could change the response.
   */
  readonly isCacheable: boolean;
};

/** How the text of a parameter is converted before validation. */
export type QueryParameter = {
  /** The type in the schema of the parameter. */
  readonly type: string;
  /** The Unicode normal form to which the text is converted; `undefined` if it is not converted. */
  readonly normalForm: string | undefined;
};

/** The size of the largest request body unless the contract has another limit: 100 KiB. */
export const MAX_REQUEST_BODY_BYTES = 100 * 1024;

/**
 * Returns the operation with its computed properties. Throws if the contract requires a permission that is not in `permissions`.
 */
export function describeOperation(operation: Operation, permissions: readonly string[]): ContractOperation {
  const { operationId = '', responses = {} } = operation;
  const [query, headers] = [parametersIn(operation, 'query'), parametersIn(operation, 'header')];
  const needed = permissionsOf(operation, permissions);
  const { content = {}, 'x-max-bytes': maxBodyBytes = MAX_REQUEST_BODY_BYTES } = Object(operation.requestBody);
  const success = responses['200'] ?? responses['201'] ?? {};
  return {
    ...operation,
    operationId,
    permissions: needed,
    pathNames: [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name),
    queryParameters: new Map(query.map(({ name, ...read }) => [name, read])),
    queryNames: query.map(({ name }) => name),
    headerNames: new Map(headers.map(({ name }) => [name.toLowerCase(), name])),
    hasBody: operation.requestBody !== undefined,
    mediaTypes: Object.keys(content),
    maxBodyBytes,
    countedField: countedFieldOf(Object(content['application/json'] ?? {}).schema),
    hasEntityTag: 'headers' in success && Object.hasOwn(success.headers ?? {}, 'ETag'),
    isConditional: responses['304'] !== undefined,
    isCacheable:
      responses['304'] !== undefined && needed.length > 0 && headers.every(({ name }) => name === 'If-None-Match'),
  };
}

function countedFieldOf(schema: unknown): string | undefined {
  const properties = Object.entries<object>(Object(schema).properties ?? {});
  return properties.find(([, property]) => 'x-counts-as-requests' in property)?.[0];
}

/** The name of the contract's only security scheme. */
export const SECURITY_SCHEME = 'apiKey';

/**
 * Returns the permissions of an operation. Throws unless each alternative of its security consists of the one scheme, with at
 * most one permission, and that permission is known. Charter would not enforce anything else.
 */
function permissionsOf({ operationId, method, security = [] }: Operation, permissions: readonly string[]): string[] {
  const alternatives = security.map((requirement) => {
    const [[scheme, [permission, ...otherScopes]] = ['', []], ...otherSchemes] = Object.entries<string[]>(requirement);
    const isKnown =
      permission === undefined ? method === 'get' && security.length === 1 : permissions.includes(permission);
    const isServed = scheme === SECURITY_SCHEME && isKnown && otherSchemes.length + otherScopes.length === 0;
    return isServed ? [permission].filter((each) => each !== undefined) : null;
  });
  if (alternatives.length === 0 || alternatives.includes(null))
    throw new Error(`The security of ${operationId} cannot be served: ${JSON.stringify(security)}`);
  return alternatives.flatMap((each) => each ?? []);
}

function parametersIn(
  { parameters = [] }: Operation,
  location: 'query' | 'header',
): (QueryParameter & { name: string })[] {
  return parameters.flatMap((parameter) => {
    if (!('in' in parameter) || parameter.in !== location) return [];
    const { type = '', 'x-normal-form': normalForm } = Object(parameter.schema);
    return [{ name: parameter.name, type: String(type), normalForm }];
  });
}

/** The operations that clients call. Webhooks are not included, because the server calls them. */
type Operations = {
  [Id in keyof operations as operations[Id] extends webhooks[keyof webhooks]['post'] ? never : Id]: operations[Id];
};

export type OperationId = keyof Operations;

/** What a handler may use in addition to its input. */
export type HandlerDeps = { readonly db: Database; readonly keyUses: KeyUses };

/** Returns one of the successful responses of the contract for valid input. Throws refusals. */
export type Handler<Op extends OperationId> = {
  (input: Input<Op>, deps: HandlerDeps): Promise<Success<Op>>;
  /** `false` if the handler was created by `withoutDatabase`. */
  readonly usesDatabase?: false;
};

/** Returns a handler that does not use the database. Its requests do not wait for the organization's turn to use the database. */
export function withoutDatabase<Op extends OperationId>(
  handle: (input: Input<Op>) => Promise<Success<Op>>,
): Handler<Op> {
  return Object.assign(handle, { usesDatabase: false as const });
}

export type Handlers = { [Op in OperationId]: Handler<Op> };

export type Input<Op extends OperationId> = {
  readonly caller: Caller;
  readonly path: Given<Operations[Op]['parameters']['path']>;
  readonly query: WithDefaults<Given<Operations[Op]['parameters']['query']>>;
  /** The headers by their name in lower case, as Node lists them. */
  readonly headers: LowerCase<Given<Operations[Op]['parameters']['header']>>;
  readonly body: Body<Operations[Op]>;
  readonly sentBody: HandlerInput['sentBody'];
  readonly refusalOf: RefusalOf;
};

export type Success<Op extends OperationId> = {
  [Status in keyof Operations[Op]['responses'] & (200 | 201 | 204)]: {
    readonly status: Status;
    readonly headers: NothingElse<Omit<Declared<HeadersOf<Operations[Op]['responses'][Status]>>, RenderedHeader>>;
    readonly body: ContentOf<Operations[Op]['responses'][Status]>;
    /** The organization's version, read in the same snapshot as the data in the body. Without it, the response is not cached. */
    readonly version?: string | undefined;
  };
}[keyof Operations[Op]['responses'] & (200 | 201 | 204)];

/** The headers that are added when a response is rendered or sent, if the contract has them for that response. */
type RenderedHeader = 'X-Request-Id' | 'Cache-Control' | 'ETag' | 'RateLimit-Policy' | 'RateLimit';

// biome-ignore lint/complexity/noBannedTypes: an operation without parameters of one kind has no such property.
type Given<T> = [NonNullable<T>] extends [never] ? {} : NonNullable<T>;

/** The parameters with a default value, which validation adds. A test compares this list with the contract. */
type Defaulted = 'limit' | 'sort';
type WithDefaults<T> = Omit<T, Defaulted> & { [Name in keyof T & Defaulted]-?: NonNullable<T[Name]> };

type LowerCase<T> = { [Name in keyof T as Lowercase<Name & string>]: T[Name] };

type Body<Operation> = Operation extends { requestBody?: { content: { 'application/json': infer Content } } }
  ? Content
  : undefined;

type HeadersOf<Response> = Response extends { headers: infer Headers } ? Headers : never;

type ContentOf<Response> = Response extends { content: { 'application/json': infer Content } }
  ? Content | JsonText
  : null;

/** The declared headers, without the index signature that openapi-typescript adds. */
type Declared<T> = { [Name in keyof T as string extends Name ? never : Name]: T[Name] };

/** The type of the headers if none is declared. `{}` would accept any object. */
type NothingElse<T> = [keyof T] extends [never] ? Readonly<Record<string, never>> : T;

// The following types do not depend on the operation. Code that treats all operations in the same way uses them.

export type HandlerInput = {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  /** The body; `undefined` if the request has none. */
  readonly body: unknown;
  /**
   * Returns the body as it was sent, in a form that is the same for equal JSON. In contrast, `body` contains default values,
   * which another version of the contract may change.
   */
  readonly sentBody: () => string;
  readonly caller: Caller;
  readonly refusalOf: RefusalOf;
};

/** Returns the 422 that a single request for an operation would get, or `null` if the input is valid. */
export type RefusalOf = (
  operationId: string,
  input: Pick<HandlerInput, 'path' | 'body'> & { readonly headers: Readonly<Record<string, string>> },
) => DomainError | null;

/** Returns the response for valid input. Throws refusals. */
export type OperationHandler = (input: HandlerInput) => Promise<HandlerResult>;
