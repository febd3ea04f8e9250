// The types of the package charter-mock. This file imports only the contract's types, because the package contains no other
// types.
import type { components, exampleNames, operations, paths } from '../../../generated/openapi.d.ts';

/** The schemas of the contract by name. */
export type Schemas = components['schemas'];

type ListOf<Operations> = Operations extends {
  get: { responses: { 200: { content: { 'application/json': { data: (infer Item)[]; page: unknown } } } } };
}
  ? Item
  : never;

type ListPath = { [Path in keyof paths]: [ListOf<paths[Path]>] extends [never] ? never : Path }[keyof paths];

type LastSegment<Path extends string> = Path extends `${string}/${infer Rest}` ? LastSegment<Rest> : Path;

/**
 * Items by the name of their list, such as `{ parent_programs: [{ name: 'Nordic Scholars Exchange' }] }`. A field may be omitted
 * if it is optional in a request that creates an item, and so may `id`, `created_at` and `updated_at`.
 */
export type Seed = { readonly [Path in ListPath as LastSegment<Path>]?: readonly Partial<ListOf<paths[Path]>>[] };

/** The requests of the operation that get the response: those that match all of these values. */
export type Match = {
  /** The path without the query. `*` stands for any characters. */
  readonly path?: string;
  /** The decoded values of query parameters. */
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** The values of headers. The names are not case-sensitive. */
  readonly header?: Readonly<Record<string, string>>;
  /** Members of the JSON body. The body may have other members, but arrays must be equal. */
  readonly body?: unknown;
};

/**
 * When the mock closes the connection without a response: before it handles the request, which then changes nothing, or after it
 * has handled the request.
 */
export type Disconnect = 'before' | 'after';

export type OperationId = keyof exampleNames;

type StatusOf<Id extends OperationId> = Id extends OperationId ? keyof exampleNames[Id] : never;

type ExampleOf<Id extends OperationId, Status = StatusOf<Id>> = Id extends OperationId
  ? exampleNames[Id][Status & keyof exampleNames[Id]]
  : never;

type BodyOf<Id extends OperationId, Status> = Id extends OperationId
  ? operations[Id]['responses'][Status & keyof operations[Id]['responses']] extends {
      content: { 'application/json': infer Body };
    }
    ? Body
    : never
  : never;

/** A body, or a function that returns or resolves to the body for each request. */
type BodyOrFunction<Body> = Body | ((request: SentRequest) => Body | Promise<Body>);

/** A response that the contract declares. */
type Declared<Id extends OperationId> =
  | {
      [Status in StatusOf<Id>]: {
        readonly status: Status;
        /** The name of one of the examples of the status. */
        readonly example?: ExampleOf<Id, Status>;
        readonly body?: BodyOrFunction<BodyOf<Id, Status>>;
        readonly allowInvalid?: false;
        readonly disconnect?: never;
      };
    }[StatusOf<Id>]
  | {
      /** The status of the response; by default, that of the success or of the example. */
      readonly status?: never;
      /** The name of one of the contract's examples. */
      readonly example?: ExampleOf<Id>;
      /** A body that replaces that of the success. */
      readonly body?: BodyOrFunction<BodyOf<Id, 200 | 201>>;
      readonly allowInvalid?: false;
      readonly disconnect?: never;
    };

/** A response that is sent even if the contract forbids it. If its body is a string, the string is sent unchanged. */
type Undeclared = {
  readonly allowInvalid: true;
  readonly status?: number;
  readonly body?: BodyOrFunction<object | string | number | boolean | null>;
  readonly example?: never;
  readonly disconnect?: never;
};

type Disconnected = {
  readonly disconnect: Disconnect;
  readonly headers?: never;
  readonly status?: never;
  readonly example?: never;
  readonly body?: never;
  readonly allowInvalid?: never;
};

export type ForcedResponse<Id extends OperationId = OperationId> = {
  /** Headers that replace those of the response, such as `{ 'Retry-After': 0 }`. */
  readonly headers?: Readonly<Record<string, string | number>>;
  /** The number of requests that get the response. The default is 1. `null` means every request until the response is cleared. */
  readonly times?: number | null;
  /** The delay before the response in milliseconds, at most 30,000. */
  readonly delay_ms?: number;
} & (Declared<Id> | Undeclared | Disconnected);

/** The responses to the requests of an operation, or of every operation that has the response. */
export type ResponseRule<Id extends OperationId = OperationId> = {
  /** The operation. The default is every operation that has the response. */
  readonly operation?: Id | '*';
  readonly match?: Match;
} & (
  | ForcedResponse<Id>
  | { /** The responses to consecutive requests. */ readonly sequence: readonly ForcedResponse<Id>[] }
);

/** A request to which the mock has responded. API keys are masked. */
export type MockRequest = {
  /** The time in ISO 8601 format, in UTC. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** The query parameters. A parameter that was sent more than once has an array of values. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** The headers, by name in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The parsed JSON of the body; `null` if there was no body, if it was not valid JSON, or if it had more than 100 levels. */
  readonly body: unknown;
  /** The operation; `null` if the contract does not have the path or the method. */
  readonly operation: OperationId | null;
  /** The status of the response; 0 if the mock closed the connection without a response. */
  readonly status: number;
  /**
   * What was wrong with the request: one sentence for each mistake. A request that gets a forced response can have mistakes, too.
   */
  readonly problems: readonly string[];
};

/** A request as it was sent, with its API key. */
export type SentRequest = Pick<MockRequest, 'method' | 'path' | 'query' | 'headers' | 'body'>;

export type StartOptions = {
  /** The port. The default is 0, which stands for any free port. */
  readonly port?: number;
  /** The host on which the mock listens. The default is 127.0.0.1. */
  readonly host?: string;
  /** The initial data. The default is the contract's examples. */
  readonly seed?: Seed;
  /** Whether later requests see what earlier requests have created, changed and deleted. The default is true. */
  readonly stateful?: boolean;
  /** The environment whose API keys are accepted. The default is "live". */
  readonly environment?: 'live' | 'test';
  /**
   * The seed of generated data. With a seed, the data is generated instead of taken from the contract's examples. The same seed
   * gives the same data.
   */
  readonly dynamicSeed?: string;
  /**
   * The rate limits in requests per second: of each key (500 by default), and of all keys together (1,000 by default). 0 means no
   * limit. Each change of a batch counts as a request.
   */
  readonly limits?: { readonly perKey?: number; readonly perOrganization?: number };
  /** Returns the time that new and changed items get. */
  readonly now?: () => Date;
};

export type KeyOptions = {
  /** The permissions of the key. The default is all permissions. */
  readonly permissions?: readonly Schemas['Permission'][];
  /**
   * The name of the organization of the key. By default, the key belongs to the organization of all other keys. Every other
   * organization has data and rate limits of its own, and begins with empty lists.
   */
  readonly organization?: string;
};

export type CharterMock = {
  /** The URL of the mock, such as http://127.0.0.1:40123. */
  readonly url: string;
  /** An API key to use with the mock, which accepts every well-formed key. */
  readonly key: string;
  /**
   * Returns an API key with fewer permissions or in another organization. The same options give the same key, which a reset does
   * not remove.
   */
  keyWith(options: KeyOptions): string;
  /**
   * Restores the initial data, or replaces it with this data. Removes forced responses and logged requests, and resets the rate
   * limits. The other organizations begin again with empty lists. Throws a `MockError` that names every mistake in the data.
   */
  reset(seed?: Seed): void;
  /** Forces the next responses. Throws a `MockError` if the contract does not allow the response. */
  respond<Id extends OperationId>(rule: ResponseRule<Id>): void;
  /** Returns the requests since the start or the last reset: at most 1,000. */
  requests(): readonly MockRequest[];
  close(): Promise<void>;
};
