// The package charter-mock: the mock for test suites.
import { isObject } from '../../../src/contract/document.ts';
import { DomainError, StartUpError } from '../../../src/domain/errors.ts';
import { ENVIRONMENTS } from '../../../src/domain/keys/api-key.ts';
import { MAX_REQUESTS_PER_SECOND } from '../../../src/domain/keys/request-limits.ts';
import { readPackedAssets } from '../assets.ts';
import { ForbiddenBodyError } from '../control.ts';
import { problemsOf } from '../request-check.ts';
import { openMock } from '../server.ts';
import type { CharterMock, StartOptions } from './types.ts';

export type * from './types.ts';

/** A mistake in the options, the data or a forced response, or an address on which the mock cannot listen. */
export class MockError extends Error {
  /** One sentence for each mistake. It begins with the name of the option or the field. */
  readonly problems: readonly string[];

  /** Creates an error. `hint` is a sentence at the end of the message that does not describe a mistake. */
  constructor(problems: readonly string[], hint?: string) {
    const listed = problems.length === 1 ? '' : `There are ${problems.length} mistakes:\n  `;
    super(`${listed}${problems.join('\n  ')}${hint === undefined ? '' : `\n${hint}`}`);
    this.name = 'MockError';
    this.problems = problems;
  }
}

/**
 * Starts a mock of the Charter API. Rejects with a `MockError` if an option is wrong or unknown, if the seed contains mistakes,
 * or if the port is in use.
 */
export async function startMock(options: StartOptions = {}): Promise<CharterMock> {
  const mistakes = mistakesIn(options);
  if (mistakes.length > 0) throw new MockError(mistakes);
  const { stateful = true, port = 0, ...others } = options;
  const mock = await openMock(await readPackedAssets(), { ...others, port, isStateful: stateful }).catch(
    (error: unknown) => {
      throw mockErrorOf(error);
    },
  );
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw mockErrorOf(error);
    }
  };
  return {
    url: mock.url,
    key: mock.key,
    reset: (seed) => attempt(() => mock.control.reset(seed === undefined ? {} : { data: seed })),
    keyWith: (options) => attempt(() => mock.control.createKey({ ...options }).key),
    respond: (rule) => void attempt(() => mock.control.force({ ...rule })),
    requests: () => mock.log.all,
    close: () => mock.close(),
  };
}

function mockErrorOf(error: unknown): unknown {
  if (error instanceof StartUpError) return new MockError([`${error.message} Choose another port or host.`]);
  if (error instanceof ForbiddenBodyError) return new MockError(problemsOf(error), error.hint);
  return error instanceof DomainError ? new MockError(problemsOf(error)) : error;
}

type Check = readonly [isValid: (value: unknown) => boolean, words: string];

const isText = (value: unknown) => typeof value === 'string';

/** The check of each option of `startMock`. */
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

/** Returns whether the value is a valid Date. Does not use "instanceof", because test runners have their own Date class. */
function isInstant(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Date]' && !Number.isNaN(Number(value));
}

/** Returns one sentence for each mistake in the options. The types do not prevent mistakes in a JavaScript program. */
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
