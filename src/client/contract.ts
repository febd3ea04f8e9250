// The types of a call's arguments and of its result, derived from the contract. This file contains only types.
import type { components, paths } from '../../generated/openapi.d.ts';

/** The contract's schemas, such as `Schemas['ParentProgram']`. */
export type Schemas = components['schemas'];

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have an operation with the method. */
export type PathOf<M extends Method> = {
  [Path in keyof paths]: paths[Path][M] extends { responses: unknown } ? Path : never;
}[keyof paths];

/** A call's arguments after the path. The options may be omitted if none of them is required. */
export type Arguments<Options> = Record<never, never> extends Options ? [options?: Options] : [options: Options];

export type Options<Path extends PathOf<M>, M extends Method> = OptionsWith<
  ParametersOf<paths[Path][M]>,
  BodyOf<paths[Path][M]>
>;

/** The options of a GET without `If-None-Match`. Such a request never gets a 304. */
export type UnconditionalOptions<Path extends PathOf<'get'>> = OptionsWith<
  Unconditional<ParametersOf<paths[Path]['get']>>,
  BodyOf<paths[Path]['get']>
>;

/** The union of the operation's documented responses, discriminated by `status`. */
export type Result<Path extends PathOf<M>, M extends Method> = ResultOf<ResponsesOf<paths[Path][M]>>;

export type UnconditionalResult<Path extends PathOf<'get'>> = Exclude<Result<Path, 'get'>, { status: 304 }>;

/** Every error response of every operation. */
export type ErrorResult = Extract<
  { [M in Method]: { [Path in PathOf<M>]: Result<Path, M> }[PathOf<M>] }[Method],
  { ok: false; error: object }
>;

/** The paths whose GET returns a page of a list. */
export type PagedPath = {
  [Path in PathOf<'get'>]: DataOf<Path> extends AnyPage ? Path : never;
}[PathOf<'get'>];

export type PageOf<Path extends PagedPath> = Extract<DataOf<Path>, AnyPage>;
export type ItemOf<Path extends PagedPath> = PageOf<Path>['data'][number];

/** The lists whose items you can create or replace by your own ID. */
export type UpsertPath = {
  [Path in keyof paths]: ByExternalId<Path> extends PathOf<'put'> ? Path : never;
}[keyof paths];

export type ByExternalId<Path extends string> = `${Path}/by_external_id/{external_id}`;

/** The lists whose items can be changed in batches. */
export type BatchPath = {
  [Path in UpsertPath]: `${Path}/batch` extends PathOf<'post'> ? Path : never;
}[UpsertPath];

/** One change of a batch. */
export type ChangeOf<Path extends BatchPath> =
  | { readonly action: 'create'; readonly body: SentTo<Path, 'post'> }
  | ({
      readonly action: 'upsert';
      readonly external_id: string;
      readonly if_none_match?: string;
      readonly body: SentTo<ByExternalId<Path>, 'put'>;
    } & Conditional)
  | ({ readonly action: 'update'; readonly id: string; readonly body: SentTo<`${Path}/{id}`, 'patch'> } & Conditional)
  | ({ readonly action: 'delete' } & (
      | { readonly id: string; readonly external_id?: never }
      | { readonly external_id: string; readonly id?: never }
    ) &
      Conditional);

type Conditional = { readonly if_match?: string };

/** A change with its outcome. The `status` is 413 if the change alone exceeds the maximum size of a request body. */
export type OutcomeOf<Path extends BatchPath> = { readonly change: ChangeOf<Path> } & (
  | ResultsOf<Path>[number]
  | { status: 413; etag: null; body: null; exception: { message: string } }
);

/** The outcomes of a batch, in the order of its changes. */
export type BatchOf<Path extends BatchPath> = {
  /** The number of the batch; the first is 1. */
  readonly number: number;
  readonly outcomes: readonly OutcomeOf<Path>[];
  /** The number of changes that have been processed, including those of earlier batches. */
  readonly done: number;
};

export type BatchOptions = {
  /**
   * The name of this run of your program: 1 to 200 visible ASCII characters. The default is random. If you repeat a run with the
   * same name and the same changes, changes that were processed in the last 24 hours get the same outcomes as before, and the run
   * continues with the other changes.
   */
  readonly run?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The body of a request. */
export type SentTo<Path extends string, M extends Method> =
  Path extends PathOf<M> ? (BodyOf<paths[Path][M]> extends { readonly body: infer Body } ? Body : never) : never;

type ResultsOf<Path extends BatchPath> =
  DataOf200<`${Path}/batch`> extends { results: infer Results extends unknown[] } ? Results : never;

type DataOf200<Path extends string> =
  Path extends PathOf<'post'> ? Extract<Result<Path, 'post'>, { status: 200 }>['data'] : never;

/** The paths whose POST accepts an `Idempotency-Key`. */
export type IdempotentPath = IdempotentPathIn<paths>;

/**
 * The paths of a contract whose POST accepts an `Idempotency-Key`. The check for `never` is needed because `keyof never` includes
 * every string: an operation without header parameters has `header?: never`.
 */
export type IdempotentPathIn<Paths> = {
  [Path in keyof Paths]: Paths[Path] extends { post: { parameters: { header?: infer Header } } }
    ? [NonNullable<Header>] extends [never]
      ? never
      : 'Idempotency-Key' extends keyof NonNullable<Header>
        ? Path
        : never
    : never;
}[keyof Paths];

type AnyPage = { data: unknown[]; page: { next_cursor: string | null } };

type DataOf<Path extends PathOf<'get'>> = Extract<Result<Path, 'get'>, { status: 200 }>['data'];

type ParametersOf<Operation> = Operation extends { parameters: infer Parameters } ? Parameters : never;
type ResponsesOf<Operation> = Operation extends { responses: infer Responses } ? Responses : never;

type BodyOf<Operation> = Operation extends { requestBody: { content: { 'application/json': infer Body } } }
  ? { readonly body: Body }
  : { readonly body?: never };

type OptionsWith<Parameters, Body> = Body &
  (Record<never, never> extends Parameters ? { readonly params?: Parameters } : { readonly params: Parameters }) & {
    /** Aborts the call immediately, even during the wait before a retry. */
    readonly signal?: AbortSignal | undefined;
  };

type Unconditional<Parameters> = Parameters extends { header?: infer Header }
  ? Omit<Parameters, 'header'> & { header?: Omit<Header, 'If-None-Match'> & { 'If-None-Match'?: never } }
  : Parameters;

type ResultOf<Responses> = {
  [Status in keyof Responses & number]: OneResult<Status, Responses[Status]>;
}[keyof Responses & number];

type OneResult<Status extends number, Response> = Response extends {
  headers: infer H;
  content: { 'application/json': infer Content };
}
  ? `${Status}` extends `2${string}`
    ? Success<Status, H, Content>
    : Failure<Status, H, Content>
  : Response extends { headers: infer H }
    ? Bare<Status, H>
    : never;

/** A successful response with a body. */
type Success<Status, H, Content> = Received<Status, H> & {
  readonly ok: true;
  readonly data: Content;
  readonly error?: never;
};

/** An error response. `error` is the exception that the contract defines. */
type Failure<Status, H, Content> = Received<Status, H> & {
  readonly ok: false;
  readonly data?: never;
  readonly error: Content;
};

/** A response without a body: a 204 or a 304. As in `fetch`, a 304 is not `ok`. */
type Bare<Status, H> = Received<Status, H> & {
  readonly ok: Status extends 304 ? false : true;
  readonly data?: never;
  readonly error?: never;
};

type Received<Status, H> = {
  readonly status: Status;
  readonly headers: ResultHeaders<H>;
  /** The response as it was received. Its body has already been read into `data` or `error`. */
  readonly response: Response;
  /** The number of times that the request was sent; at least 1. */
  readonly tries: number;
};

/**
 * The headers of a response. `get` returns a string for a header that the contract requires. For any other header, it returns a
 * string or `null`.
 */
type ResultHeaders<H> = {
  get<Name extends keyof Declared<H>>(
    name: Name,
  ): Record<never, never> extends Pick<H, Name> ? string | null : Text<H[Name]>;
} & Headers;

/** The declared headers, without the index signature that openapi-typescript adds. */
type Declared<H> = { [Name in keyof H as string extends Name ? never : Name]: H[Name] };

/** The type of a header as it is sent. Headers are sent as strings, even if the contract declares an integer. */
type Text<Value> = Value extends string ? Value : string;
