import { isObject } from '../../../src/contract/document.ts';
import { ENVIRONMENTS } from '../../../src/domain/api-key.ts';
import { MAX_REQUESTS_PER_SECOND } from '../../../src/domain/request-limits.ts';

export type Check = readonly [isValid: (value: unknown) => boolean, words: string];

const isText = (value: unknown) => typeof value === 'string';

/** What the options of `startMock` must be. */
export const CHECKS = {
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
} as const satisfies Readonly<Record<string, Check>>;

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
export function mistakesIn(options: object, known: Readonly<Record<string, Check>>): string[] {
  const checks = new Map(Object.entries(known));
  return Object.entries(options).flatMap(([name, value]) => {
    const check = checks.get(name);
    if (check === undefined)
      return [`${name} is not an option of startMock. Options: ${[...checks.keys()].join(', ')}.`];
    const [isValid, words] = check;
    return value === undefined || isValid(value) ? [] : [`${name} must be ${words}.`];
  });
}
