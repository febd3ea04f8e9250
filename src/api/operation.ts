import type { IncomingHttpHeaders } from 'node:http';
import type { Operation } from 'openapi-backend';
import type { operations, webhooks } from '../../generated/openapi.d.ts';
import type { Caller } from '../domain/audit/actor.ts';
import type { DomainError } from '../domain/errors.ts';
import type { Database } from '../store/sql/database.ts';
import type { KeyUses } from '../traffic/last-used.ts';
import type { HandlerResult, JsonText } from './response.ts';

/** An operation as openapi-backend has it, with what every request needs to know about it, computed once at the start. */
export type ContractOperation = Operation & {
  readonly operationId: string;
  /** The permissions of which the key needs one; empty if it needs none. */
  readonly permissions: readonly string[];
  readonly pathNames: readonly string[];
  readonly queryParameters: ReadonlyMap<string, QueryParameter>;
  readonly queryNames: readonly string[];
  /** Header names as the contract spells them, by their lower-case form. */
  readonly headerNames: ReadonlyMap<string, string>;
  readonly hasBody: boolean;
  /** The media types of the body, in the contract's order. */
  readonly mediaTypes: readonly string[];
  /** The largest body, from "x-max-bytes". */
  readonly maxBodyBytes: number;
  /** The array in the body whose items count as requests, marked with "x-counts-as-requests". */
  readonly countedField: string | undefined;
  /** Whether the contract shows an ETag on the success. */
  readonly hasEntityTag: boolean;
  /** Whether the contract shows a 304. */
  readonly isConditional: boolean;
  /**
   * Its responses may be kept in the response cache, if its handler returns their version. An operation without a permission
   * shows the key itself, and a header other than If-None-Match could change the response.
   */
  readonly isCacheable: boolean;
};

/** How the text of a parameter is read. */
export type QueryParameter = {
  /** The type in its schema. */
  readonly type: string;
  /** The Unicode normal form into which the text is brought before it is validated. `undefined`: the text stays as it is. */
  readonly normalForm: string | undefined;
};

/** The largest body of a request, unless the contract has another limit: 100 KiB. */
export const MAX_REQUEST_BODY_BYTES = 100 * 1024;

/** `permissions` are those that a key can have; any other in the contract is refused. */
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

/** The name of the contract's one security scheme. */
export const SECURITY_SCHEME = 'apiKey';

/**
 * Throws for anything but the one scheme with no permission, or with one known permission in each of its alternatives: nothing else is
 * enforced.
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

/** The operations that clients call; the server calls a webhook. */
type Operations = {
  [Id in keyof operations as operations[Id] extends webhooks[keyof webhooks]['post'] ? never : Id]: operations[Id];
};

export type OperationId = keyof Operations;

/** What a handler may use besides its input. */
export type HandlerDeps = { readonly db: Database; readonly keyUses: KeyUses };

/** Makes one of the successes that the contract shows from the operation's valid input. Refusals are thrown. */
export type Handler<Op extends OperationId> = {
  (input: Input<Op>, deps: HandlerDeps): Promise<Success<Op>>;
  /** `false` for a handler made by `withoutDatabase`. */
  readonly usesDatabase?: false;
};

/**
 * A handler that responds from its input alone. Its requests do not wait for their organization's turn to use the database.
 */
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
  /** The headers by lower-case name, as Node lists them. */
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
    /** The organization's version, of the very data that the body shows. Without it, the response is not cached. */
    readonly version?: string | undefined;
  };
}[keyof Operations[Op]['responses'] & (200 | 201 | 204)];

/** Rendering and sending add these to every response on which the contract shows them. */
type RenderedHeader = 'X-Request-Id' | 'Cache-Control' | 'ETag' | 'RateLimit-Policy' | 'RateLimit';

// biome-ignore lint/complexity/noBannedTypes: an operation without parameters of one kind has no such property.
type Given<T> = [NonNullable<T>] extends [never] ? {} : NonNullable<T>;

/** Parameters with a default, which validation fills in. A test compares this list with the contract. */
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

/** `{}` alone would accept any object where no header is declared. */
type NothingElse<T> = [keyof T] extends [never] ? Readonly<Record<string, never>> : T;

// The code that treats all operations alike uses the following types, which do not depend on the operation.

/** The validated request. */
export type HandlerInput = {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  /** `undefined` if the request has none. */
  readonly body: unknown;
  /**
   * Returns the body as it was sent, as a text that is the same for the same JSON. In `body`, validation has filled in defaults, and
   * the next version of the contract can have other ones.
   */
  readonly sentBody: () => string;
  readonly caller: Caller;
  readonly refusalOf: RefusalOf;
};

/** Returns the 422 that a request to an operation would get, or `null` if it is valid. */
export type RefusalOf = (
  operationId: string,
  input: Pick<HandlerInput, 'path' | 'body'> & { readonly headers: Readonly<Record<string, string>> },
) => DomainError | null;

/** Makes the response from valid input. Refusals are thrown. */
export type OperationHandler = (input: HandlerInput) => Promise<HandlerResult>;
