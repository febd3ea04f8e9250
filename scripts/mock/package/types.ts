// The types of the package charter-mock. They import the contract's types only, because the package contains only those.
import type { components, operations, paths } from '../../../generated/openapi.d.ts';

/** The schemas of the contract, by name. */
export type Schemas = components['schemas'];

type ListOf<Operations> = Operations extends {
  get: { responses: { 200: { content: { 'application/json': { data: (infer Item)[]; page: unknown } } } } };
}
  ? Item
  : never;

type ListPath = { [Path in keyof paths]: [ListOf<paths[Path]>] extends [never] ? never : Path }[keyof paths];

type LastSegment<Path extends string> = Path extends `${string}/${infer Rest}` ? LastSegment<Rest> : Path;

/**
 * Items by the name of their list, such as `{ parent_programs: [{ name: 'Nordic Scholars Exchange' }] }`. What a creation can
 * omit can be omitted here, too, as can `id`, `created_at` and `updated_at`.
 */
export type Seed = { readonly [Path in ListPath as LastSegment<Path>]?: readonly Partial<ListOf<paths[Path]>>[] };

/** Which requests of the operation get the response: those that have all of these. */
export type Match = {
  /** The path without the query. A `*` stands for any characters. */
  readonly path?: string;
  /** The values of parameters, decoded. */
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** The names are not case-sensitive. */
  readonly header?: Readonly<Record<string, string>>;
  /** Members of the JSON body. Others are allowed, except within an array. */
  readonly body?: unknown;
};

export type ForcedResponse = {
  /** The status of the contract's response; that of the success by default. */
  readonly status?: number;
  /** The name of one of the contract's examples. */
  readonly example?: string;
  /** A body of your own, in place of an example. With `allowInvalid`, a string is sent as it is. */
  readonly body?: unknown;
  /** Headers that replace those of the response, such as `{ 'Retry-After': 0 }`. */
  readonly headers?: Readonly<Record<string, string | number>>;
  /** Sends a status and a body that the contract forbids. */
  readonly allowInvalid?: boolean;
  /** How many requests get it; 1 by default, `null` for every request until it is cleared. */
  readonly times?: number | null;
  /** Waits before the response, up to 30,000 milliseconds. */
  readonly delay_ms?: number;
};

export type ResponseRule = {
  /** Every operation that has the response by default. */
  readonly operation?: keyof operations | '*';
  readonly match?: Match;
} & (ForcedResponse | { /** One after the other. */ readonly sequence: readonly ForcedResponse[] });

/** A request that the mock has responded to. API keys are masked. */
export type MockRequest = {
  /** ISO 8601, in UTC. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** A parameter that is sent more than once has several values. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The JSON of the body; `null` if there was none, or none that could be read, or one of more than 100 levels. */
  readonly body: unknown;
  /** `null` for a path or a method that the contract does not have. */
  readonly operation: keyof operations | null;
  /** The status of the response. */
  readonly status: number;
  /** What was wrong with the request, one sentence each, although the response may have been forced. */
  readonly problems: readonly string[];
};

export type StartOptions = {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** 127.0.0.1 by default. */
  readonly host?: string;
  /** The data to begin with. The contract's examples by default. */
  readonly seed?: Seed;
  /** Keeps what requests create, change and delete. True by default. */
  readonly stateful?: boolean;
  /** The environment whose API keys are accepted; live by default. */
  readonly environment?: 'live' | 'test';
  /** Generates data in place of the contract's examples: the same text generates the same data. */
  readonly dynamicSeed?: string;
  /** Requests per second of each key, 500 by default, and of all keys together, 1,000. 0: no limit. A batch counts its changes. */
  readonly limits?: { readonly perKey?: number; readonly perOrganization?: number };
  /** The time that new and changed items get. */
  readonly now?: () => Date;
};

export type CharterMock = {
  /** Such as http://127.0.0.1:40123. */
  readonly url: string;
  /** An API key that the mock accepts, as it accepts every well-formed one. */
  readonly key: string;
  /**
   * Begins again with this data, or with that of the start; without forced responses and requests, and with all requests of
   * the limits left. Throws a `MockError` that
   * names every mistake in the data.
   */
  reset(seed?: Seed): void;
  /** Forces the next responses. Throws a `MockError` for one that the contract does not allow. */
  respond(rule: ResponseRule): void;
  /** The requests since the start or the last reset, up to 1,000. */
  requests(): readonly MockRequest[];
  close(): Promise<void>;
};
