// What a call takes and what it resolves to, derived from the contract. Types alone: at run time there is nothing here.
import type { components, paths } from '../../generated/openapi.d.ts';

/** The contract's schemas, such as `Schemas['ParentProgram']`. */
export type Schemas = components['schemas'];

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** The paths that take the method. */
export type PathOf<M extends Method> = {
  [Path in keyof paths]: paths[Path][M] extends { responses: unknown } ? Path : never;
}[keyof paths];

/** The rest of a call's arguments: the options may be left out where nothing in them is required. */
export type Arguments<Options> = Record<never, never> extends Options ? [options?: Options] : [options: Options];

export type Options<Path extends PathOf<M>, M extends Method> = OptionsWith<
  ParametersOf<paths[Path][M]>,
  BodyOf<paths[Path][M]>
>;

/** The options of a read that cannot be answered with 304, because it does not send `If-None-Match`. */
export type UnconditionalOptions<Path extends PathOf<'get'>> = OptionsWith<
  Unconditional<ParametersOf<paths[Path]['get']>>,
  BodyOf<paths[Path]['get']>
>;

/** One of the operation's documented answers; `status` tells them apart. */
export type Answer<Path extends PathOf<M>, M extends Method> = AnswerOf<ResponsesOf<paths[Path][M]>>;

export type UnconditionalAnswer<Path extends PathOf<'get'>> = Exclude<Answer<Path, 'get'>, { status: 304 }>;

/** Any refusal or failure that the contract shows, of whichever operation. */
export type ErrorAnswer = Extract<
  { [M in Method]: { [Path in PathOf<M>]: Answer<Path, M> }[PathOf<M>] }[Method],
  { ok: false; error: object }
>;

/** The paths whose answer is a page of a list. */
export type PagedPath = {
  [Path in PathOf<'get'>]: DataOf<Path> extends AnyPage ? Path : never;
}[PathOf<'get'>];

export type PageOf<Path extends PagedPath> = Extract<DataOf<Path>, AnyPage>;
export type ItemOf<Path extends PagedPath> = PageOf<Path>['data'][number];

/** The paths whose POST takes an `Idempotency-Key`. */
export type IdempotentPath = {
  [Path in PathOf<'post'>]: ParametersOf<paths[Path]['post']> extends { header?: infer Header }
    ? 'Idempotency-Key' extends keyof NonNullable<Header>
      ? Path
      : never
    : never;
}[PathOf<'post'>];

type AnyPage = { data: unknown[]; page: { next_cursor: string | null } };

type DataOf<Path extends PathOf<'get'>> = Extract<Answer<Path, 'get'>, { status: 200 }>['data'];

type ParametersOf<Operation> = Operation extends { parameters: infer Parameters } ? Parameters : never;
type ResponsesOf<Operation> = Operation extends { responses: infer Responses } ? Responses : never;

type BodyOf<Operation> = Operation extends { requestBody: { content: { 'application/json': infer Body } } }
  ? { readonly body: Body }
  : { readonly body?: never };

type OptionsWith<Parameters, Body> = Body &
  (Record<never, never> extends Parameters ? { readonly params?: Parameters } : { readonly params: Parameters }) & {
    /** Ends the call at once, whether it is being sent, waiting for its answer or waiting to be sent again. */
    readonly signal?: AbortSignal | undefined;
  };

type Unconditional<Parameters> = Parameters extends { header?: infer Header }
  ? Omit<Parameters, 'header'> & { header?: Omit<Header, 'If-None-Match'> & { 'If-None-Match'?: never } }
  : Parameters;

type AnswerOf<Responses> = {
  [Status in keyof Responses & number]: OneAnswer<Status, Responses[Status]>;
}[keyof Responses & number];

type OneAnswer<Status extends number, Response> = Response extends {
  headers: infer H;
  content: { 'application/json': infer Content };
}
  ? `${Status}` extends `2${string}`
    ? Success<Status, H, Content>
    : Failure<Status, H, Content>
  : Response extends { headers: infer H }
    ? Bare<Status, H>
    : never;

/** An answer with the content that was asked for. */
type Success<Status, H, Content> = Received<Status, H> & {
  readonly ok: true;
  readonly data: Content;
  readonly error?: never;
};

/** A refusal or a failure; `error` is the exception that the contract names. */
type Failure<Status, H, Content> = Received<Status, H> & {
  readonly ok: false;
  readonly data?: never;
  readonly error: Content;
};

/** An answer without content: 204, and 304, which like in `fetch` is not `ok`. */
type Bare<Status, H> = Received<Status, H> & {
  readonly ok: Status extends 304 ? false : true;
  readonly data?: never;
  readonly error?: never;
};

type Received<Status, H> = {
  readonly status: Status;
  readonly headers: AnswerHeaders<H>;
  /** As it was received, except that its body has been read: it is in `data` or `error`. */
  readonly response: Response;
  /** How often the request was sent, 1 or more. */
  readonly tries: number;
};

/** Those that the contract always sends are known to be there; of any other name there may be none. */
type AnswerHeaders<H> = {
  get<Name extends keyof Declared<H>>(
    name: Name,
  ): Record<never, never> extends Pick<H, Name> ? string | null : Text<H[Name]>;
} & Headers;

/** Without the index signature that openapi-typescript gives to headers. */
type Declared<H> = { [Name in keyof H as string extends Name ? never : Name]: H[Name] };

/** On the wire every header is text, an integer too. */
type Text<Value> = Value extends string ? Value : string;
