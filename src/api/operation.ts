import type { IncomingHttpHeaders } from 'node:http';
import type { operations, webhooks } from '../../generated/openapi.d.ts';
import type { Caller } from '../domain/caller.ts';
import type { DomainError } from '../domain/errors.ts';
import type { Database } from '../store/database.ts';
import type { KeyUses } from '../traffic/last-used.ts';
import type { JsonText } from './json-text.ts';

/** The operations that clients call; the server calls a webhook. */
type Operations = {
  [Id in keyof operations as operations[Id] extends webhooks[keyof webhooks]['post'] ? never : Id]: operations[Id];
};

export type OperationId = keyof Operations;

/** What a handler may use besides its input. */
export type HandlerDeps = { readonly db: Database; readonly keyUses: KeyUses };

/** From the operation's valid input to one of the successes that the contract shows. Refusals are thrown. */
export type Handler<Op extends OperationId> = (input: Input<Op>, deps: HandlerDeps) => Promise<Success<Op>>;

export type Handlers = { [Op in OperationId]: Handler<Op> };

export type Input<Op extends OperationId> = {
  readonly caller: Caller;
  readonly path: Given<Operations[Op]['parameters']['path']>;
  readonly query: WithDefaults<Given<Operations[Op]['parameters']['query']>>;
  /** By lower-case name, as Node lists them. */
  readonly headers: LowerCase<Given<Operations[Op]['parameters']['header']>>;
  readonly body: Body<Operations[Op]>;
  readonly refusalOf: RefusalOf;
};

export type Success<Op extends OperationId> = {
  [Status in keyof Operations[Op]['responses'] & (200 | 201 | 204)]: {
    readonly status: Status;
    readonly headers: NothingElse<Omit<Declared<HeadersOf<Operations[Op]['responses'][Status]>>, RenderedHeader>>;
    readonly body: ContentOf<Operations[Op]['responses'][Status]>;
    /** See `HandlerResult`. */
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

/** Without the index signature that openapi-typescript adds to headers. */
type Declared<T> = { [Name in keyof T as string extends Name ? never : Name]: T[Name] };

/** `{}` alone would accept any object where no header is declared. */
type NothingElse<T> = [keyof T] extends [never] ? Readonly<Record<string, never>> : T;

// The same without the operation's own types, for what treats all operations alike.

/** The validated request. */
export type HandlerInput = {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  /** `undefined` if the request has none. */
  readonly body: unknown;
  readonly caller: Caller;
  readonly refusalOf: RefusalOf;
};

/** The 422 that a request to an operation would get; null if it is valid. */
export type RefusalOf = (
  operationId: string,
  input: Pick<HandlerInput, 'path' | 'body'> & { readonly headers: Readonly<Record<string, string>> },
) => DomainError | null;

export type HandlerResult = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** `null` if the response has none. */
  readonly body: unknown;
  /** If it is omitted and the contract shows one, it is made of the body's bytes. */
  readonly entityTag?: string;
  /** The organization's version, of the very data that the body shows; without it, the response is not cached. */
  readonly version?: string | undefined;
};

/** From valid input to the response; refusals are thrown. */
export type OperationHandler = (input: HandlerInput) => Promise<HandlerResult>;
