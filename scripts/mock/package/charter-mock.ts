// The package charter-mock: the mock for test suites.
import type { components, operations, paths } from '../../../generated/openapi.d.ts';
import { isObject } from '../../../src/contract/document.ts';
import { DomainError } from '../../../src/domain/errors.ts';
import { ENVIRONMENTS } from '../../../src/domain/keys/api-key.ts';
import { MAX_REQUESTS_PER_SECOND } from '../../../src/domain/keys/request-limits.ts';
import { StartUpError } from '../../../src/domain/start-up-error.ts';
import { readPackedAssets } from '../assets.ts';
import { ForbiddenBodyError } from '../control.ts';
import { problemsOf } from '../request-check.ts';
import { openMock } from '../server.ts';

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

/** A mistake in what was given to the mock, or an address on which it cannot listen. */
export class MockError extends Error {
  /** A sentence for each mistake, which begins with the name of the option or the field. */
  readonly problems: readonly string[];

  /** `hint`: a sentence for the end of the message, which is not a mistake. */
  constructor(problems: readonly string[], hint?: string) {
    const listed = problems.length === 1 ? '' : `There are ${problems.length} mistakes:\n  `;
    super(`${listed}${problems.join('\n  ')}${hint === undefined ? '' : `\n${hint}`}`);
    this.name = 'MockError';
    this.problems = problems;
  }
}

/**
 * Starts a mock of the Charter API. Rejects with a `MockError` for a wrong or unknown option, for mistakes in the seed, and if the
 * port is in use.
 */
export async function startMock(options: StartOptions = {}): Promise<CharterMock> {
  const mistakes = mistakesIn(options);
  if (mistakes.length > 0) throw new MockError(mistakes);
  const { stateful = true, port = 0, ...others } = options;
  const mock = await openMock(await readPackedAssets(), { ...others, port, isStateful: stateful }).catch(
    (error: unknown) => {
      throw named(error);
    },
  );
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      throw named(error);
    }
  };
  return {
    url: mock.url,
    key: mock.key,
    reset: (seed) => attempt(() => mock.control.reset(seed === undefined ? {} : { data: seed })),
    respond: (rule) => attempt(() => mock.control.force({ ...rule })),
    // The mock records the operations of this contract only.
    requests: () => mock.log.all as readonly MockRequest[],
    close: () => mock.close(),
  };
}

function named(error: unknown): unknown {
  if (error instanceof StartUpError) return new MockError([`${error.message} Choose another port or host.`]);
  if (error instanceof ForbiddenBodyError) return new MockError(problemsOf(error), error.hint);
  return error instanceof DomainError ? new MockError(problemsOf(error)) : error;
}

type Check = readonly [isValid: (value: unknown) => boolean, words: string];

const isText = (value: unknown) => typeof value === 'string';

/** What the options of `startMock` must be. */
const CHECKS: Readonly<Record<keyof StartOptions, Check>> = {
  port: [
    (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
    'an integer from 0 to 65535',
  ],
  host: [isText, 'an address, such as 127.0.0.1'],
  seed: [isObject, 'an object with items by the name of their list'],
  stateful: [(value) => typeof value === 'boolean', 'true or false'],
  environment: [(value) => ENVIRONMENTS.some((each) => each === value), ENVIRONMENTS.join(' or ')],
  dynamicSeed: [isText, 'a text'],
  limits: [
    isLimits,
    `an object with perKey and perOrganization, from 0 to ${MAX_REQUESTS_PER_SECOND} requests per second`,
  ],
  now: [(value) => typeof value === 'function' && isInstant(value()), 'a function that returns a Date'],
};

function isLimits(value: unknown): boolean {
  const limits = isObject(value) ? Object.entries(value) : [['', null] as const];
  return limits.every(
    ([name, limit]) =>
      ['perKey', 'perOrganization'].includes(name) &&
      Number.isInteger(limit) &&
      Number(limit) >= 0 &&
      Number(limit) <= MAX_REQUESTS_PER_SECOND,
  );
}

/** Not "instanceof", because test runners have a Date of their own. */
function isInstant(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Date]' && !Number.isNaN(Number(value));
}

/** A sentence for each mistake in the options, as a program without types can make. */
function mistakesIn(options: object): string[] {
  const checks = new Map(Object.entries(CHECKS));
  return Object.entries(options).flatMap(([name, value]) => {
    const check = checks.get(name);
    if (check === undefined)
      return [`${name} is not an option of startMock. Options: ${[...checks.keys()].join(', ')}.`];
    const [isValid, words] = check;
    return value === undefined || isValid(value) ? [] : [`${name} must be ${words}.`];
  });
}
