import type { ConformityCheck } from '../../src/api/conformity.ts';
import type { Outgoing } from './outgoing.ts';
import type { Expectation } from './requests.ts';
import { type Answer, isSlow } from './world.ts';

/** The faults of the response, one sentence each. Empty: none. */
export function complaintsOf(
  check: ConformityCheck,
  { method, url }: Outgoing,
  answer: Answer,
  { statuses, field, words }: Expectation,
): string[] {
  const { status, seconds } = answer;
  return [
    ...check({ method, url }, answer).disagreements.map((sentence) => `of its response, ${status}: ${sentence}`),
    ...(statuses.includes(status) ? [] : [`the request ${words}, and got ${status}.`]),
    ...(field === undefined || status !== 422 || method === 'HEAD' || isNamed(field, answer)
      ? []
      : [`the request ${words}, and its 422 names ${Object.keys(Object(answer.body?.errors)).join(', ')}.`]),
    ...(isSlow(answer) ? [`it took ${seconds.toFixed(1)} seconds, again and again.`] : []),
  ];
}

/** Whether the errors name only the field or its members. The server truncates long names. */
function isNamed(field: string, { body }: Answer): boolean {
  const names = Object.keys(Object(body?.errors));
  return (
    names.length > 0 && names.every((name) => name === field || name.startsWith(`${field}.`) || name.endsWith('…'))
  );
}
