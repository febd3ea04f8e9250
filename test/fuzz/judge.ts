import type { ConformityCheck } from '../../src/contract/conformity.ts';
import type { Outgoing } from './outgoing.ts';
import type { Expectation } from './requests.ts';
import { isSlow, type TimedReply } from './world.ts';

/** The faults of the response, one sentence each. Empty: none. */
export function complaintsOf(
  check: ConformityCheck,
  { method, url }: Outgoing,
  response: TimedReply,
  { statuses, field, words }: Expectation,
): string[] {
  const { status, seconds } = response;
  return [
    ...check({ method, url }, response).disagreements.map((sentence) => `of its response, ${status}: ${sentence}`),
    ...(statuses.includes(status) ? [] : [`the request ${words}, and got ${status}.`]),
    ...(field === undefined || status !== 422 || method === 'HEAD' || isNamed(field, response)
      ? []
      : [`the request ${words}, and its 422 names ${Object.keys(Object(response.body?.errors)).join(', ')}.`]),
    ...(isSlow(response) ? [`it took ${seconds.toFixed(1)} seconds, again and again.`] : []),
  ];
}

/** Whether the errors name only the field or its members. The server truncates long names. */
function isNamed(field: string, { body }: TimedReply): boolean {
  const names = Object.keys(Object(body?.errors));
  return (
    names.length > 0 && names.every((name) => name === field || name.startsWith(`${field}.`) || name.endsWith('…'))
  );
}
