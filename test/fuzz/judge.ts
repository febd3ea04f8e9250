import { isDeepStrictEqual } from 'node:util';
import type { ConformityCheck } from '../../src/contract/conformity.ts';
import { isObject } from '../../src/contract/document.ts';
import type { Outgoing } from './outgoing.ts';
import type { Expectation } from './requests.ts';
import { isSlow, type TimedReply } from './world.ts';

/** The methods of the operations that read a body. */
const READING = ['POST', 'PUT', 'PATCH'];

/** The faults of the response, one sentence each. Empty: none. */
export function complaintsOf(
  check: ConformityCheck,
  { method, url, body }: Outgoing,
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
    ...(status < 300 && READING.includes(method) && typeof body === 'string' ? notShown(body, response) : []),
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

/**
 * The fields of the body that the response shows with other values. Once, V8 read an escaped name as one of another request,
 * and what was stored was wrong.
 */
function notShown(body: string, { body: shown }: TimedReply): string[] {
  const sent: unknown = JSON.parse(body);
  const fields = Object.entries(Object(sent)).filter(([name]) => Object.hasOwn(Object(shown), name));
  return fields.flatMap(([name, value]) =>
    isShown(value, Object(shown)[name]) ? [] : [`the response shows other values of ${name} than were sent.`],
  );
}

/** Whether the value is shown. Of an object, each entry must be, unless it is removed by null. */
function isShown(sent: unknown, shown: unknown): boolean {
  if (!isObject(sent)) return isDeepStrictEqual(sent ?? {}, shown ?? {});
  const entries = new Map(Object.entries(Object(shown)));
  return Object.entries(sent).every(([name, value]) =>
    value === null ? !entries.has(name) : entries.get(name) === value,
  );
}
