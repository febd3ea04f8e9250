import type { operations } from '../../generated/openapi.d.ts';
import type { Caller } from '../domain/caller.ts';
import type { Database } from '../store/database.ts';
import type { JsonText } from './json-text.ts';

export type OperationId = keyof operations;

/** What a handler may use besides its input. */
export type HandlerDeps = { readonly db: Database };

/** From the contract's parameters and body, validated, to one of the contract's successes. Refusals are thrown. */
export type Handler<Op extends OperationId> = (input: Input<Op>, deps: HandlerDeps) => Promise<Success<Op>>;

export type Handlers = { [Op in OperationId]: Handler<Op> };

export type Input<Op extends OperationId> = {
  readonly caller: Caller;
  readonly path: Given<operations[Op]['parameters']['path']>;
  readonly query: WithDefaults<Given<operations[Op]['parameters']['query']>>;
  /** By lower-case name, as Node has them. */
  readonly headers: LowerCase<Given<operations[Op]['parameters']['header']>>;
  readonly body: Body<operations[Op]>;
};

export type Success<Op extends OperationId> = {
  [Status in keyof operations[Op]['responses'] & (200 | 201 | 204)]: {
    readonly status: Status;
    readonly headers: NothingElse<Omit<Declared<HeadersOf<operations[Op]['responses'][Status]>>, RouterHeader>>;
    readonly body: ContentOf<operations[Op]['responses'][Status]>;
    /** See `Answer`. */
    readonly version?: string | undefined;
  };
}[keyof operations[Op]['responses'] & (200 | 201 | 204)];

/** The router gives these to every answer that the contract shows them on. */
type RouterHeader = 'X-Request-Id' | 'Cache-Control' | 'ETag';

// biome-ignore lint/complexity/noBannedTypes: an operation without parameters of a kind has none of them.
type Given<T> = [NonNullable<T>] extends [never] ? {} : NonNullable<T>;

/** Parameters to which the contract gives a default; validation fills it in. A test holds this list to the contract. */
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

/** Without the index signature that openapi-typescript gives to headers. */
type Declared<T> = { [Name in keyof T as string extends Name ? never : Name]: T[Name] };

/** Where nothing is declared, nothing may be given: `{}` alone would take anything. */
type NothingElse<T> = [keyof T] extends [never] ? Readonly<Record<string, never>> : T;
