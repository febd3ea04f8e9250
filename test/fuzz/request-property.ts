// A sequence of requests that are generated from the document and sent in a new organization.
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { type ConformityCheck, createConformityCheck } from '../../src/contract/conformity.ts';
import { isObject, type Json, operationsOf } from '../../src/contract/document.ts';
import { parseInstant } from '../../src/domain/resources/instant.ts';
import type { Operation } from '../support/contract/contract.ts';
import { requestFor } from '../support/contract/every-operation.ts';
import { createReferences, listOf, resourceOf } from '../support/contract/resources.ts';
import type { TestOrganization } from '../support/servers/server.ts';
import { type Draft, OWN_ID } from './draft.ts';
import { curlOf, type Outgoing } from './outgoing.ts';
import { anyDraft, type Expectation, expectationOf } from './requests.ts';
import { isSlow, type TimedReply, type World } from './world.ts';

const MOST_REQUESTS = 20;

/** Returns the property that every response matches the document. */
export function requestProperty(document: Json, world: World) {
  const operations = operationsOf(document);
  const check = createConformityCheck(document);
  const drafts = fc.array(anyDraft(operations), { minLength: 1, maxLength: MOST_REQUESTS, size: 'max' });
  // An organization to which nothing was written is used again. Otherwise new organizations would take most of the time of
  // shrinking.
  let unchanged: TestOrganization | undefined;
  return fc.asyncProperty(drafts, async (sequence) => {
    const ours = unchanged ?? (await world.newOrganization());
    unchanged = undefined;
    const sent: Outgoing[] = [];
    for (const draft of sequence) {
      const outgoing = await outgoingOf(draft, { operations, world, ours });
      const expectation = expectationOf(draft, { url: outgoing.url, before: sent });
      sent.push(outgoing);
      const response = await world.send(outgoing, ours).catch((error: Error) => error);
      const complaints =
        response instanceof Error ? [response.message] : complaintsOf(check, outgoing, response, expectation);
      unchanged = sent.every(isReading) ? ours : undefined;
      if (complaints.length > 0) throw new Error([...complaints, ...sent.map(curlOf)].join('\n'));
    }
  });
}

function isReading({ method, made }: Outgoing): boolean {
  return (method === 'GET' || method === 'HEAD') && made === undefined;
}

type Place = { readonly operations: readonly Operation[]; readonly world: World; readonly ours: TestOrganization };

async function outgoingOf(draft: Draft, place: Place): Promise<Outgoing> {
  const { method, path, query, headers, key, scheme } = draft;
  const made = path.includes(OWN_ID) ? await make(draft.operation, place) : undefined;
  const address = path.replace(OWN_ID, made?.id ?? '');
  const url = query.length === 0 ? address : `${address}?${query.join('&')}`;
  return { method, url, headers, body: await referringBody(draft, place), key, scheme, made };
}

/** Returns the body with references to existing rows. The server refuses other references, even if the schema allows them. */
async function referringBody({ operation, body }: Draft, { ours }: Place): Promise<Draft['body']> {
  if (typeof body !== 'string') return body;
  const references = await createReferences(ours.client, operation);
  return Object.entries(references).reduce((text, [name, id]) => {
    const given = new RegExp(`"${name}"\\s*:\\s*"([0-9a-f-]{36})"`, 'i').exec(text)?.[1];
    return given === undefined ? text : text.replaceAll(given, id);
  }, body);
}

/**
 * Creates the row for the id in the path or, for an event, the row whose creation writes the event. The id may be one that the
 * client has given to the row. Returns the requests and the id.
 */
async function make({ path }: Operation, { operations, world, ours }: Place): Promise<Outgoing['made']> {
  const created = resourceOf({ path }).path;
  const creation = operations.find((other) => other.path === created && other.method === 'post');
  if (creation === undefined) throw new Error(`Nothing in the document creates ${created}.`);
  const references = await createReferences(ours.client, creation);
  const { method, url, body: example } = requestFor(creation, { id: '', references });
  const [, field = 'id'] = /\{(.+?)\}/.exec(path) ?? [];
  const body = field === 'id' ? example : { ...Object(example), [field]: randomUUID() };
  const by: Outgoing = { method, url, headers: {}, body: JSON.stringify(body), key: 'ours', scheme: 'Bearer ' };
  const response = await world.send(by, ours).catch((error: Error) => {
    throw new Error(`${error.message}\n${curlOf(by)}`);
  });
  const list = listOf({ path });
  if (list === created) return { by: [by], field, id: String(response.body[field]) };
  const listing: Outgoing = { ...by, method: 'GET', url: `${list}?limit=1`, body: undefined };
  const { body: page } = await world.send(listing, ours);
  return { by: [by, listing], field, id: String(page.data[0]?.[field]) };
}

/** The methods of the operations that read a body. */
const READING = ['POST', 'PUT', 'PATCH'];

/** Returns the faults of the response, each as one sentence. Empty if there are none. */
function complaintsOf(
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

/** Returns whether the errors name only the field or its members. The server truncates long names. */
function isNamed(field: string, { body }: TimedReply): boolean {
  const names = Object.keys(Object(body?.errors));
  return (
    names.length > 0 && names.every((name) => name === field || name.startsWith(`${field}.`) || name.endsWith('…'))
  );
}

/**
 * Returns the fields of the body that the response shows with another value. V8 once confused an escaped name with a name of
 * another request, so that wrong data was stored.
 */
function notShown(body: string, { body: shown }: TimedReply): string[] {
  const sent: unknown = JSON.parse(body);
  const fields = Object.entries(Object(sent)).filter(([name]) => Object.hasOwn(Object(shown), name));
  return fields.flatMap(([name, value]) =>
    isShown(value, Object(shown)[name]) ? [] : [`the response shows other values of ${name} than were sent.`],
  );
}

/** Returns whether the two values are the same time. Responses show times in UTC. */
function isSameInstant(sent: unknown, shown: unknown): boolean {
  return /^[1-9]\d{3}-\d\d-\d\dT/.test(`${sent}`) && parseInstant(`${sent}`).toJSON() === shown;
}

/** Returns whether the response shows the value. Each entry of an object must be shown, unless null removes it. */
function isShown(sent: unknown, shown: unknown): boolean {
  if (!isObject(sent)) return isDeepStrictEqual(sent ?? {}, shown ?? {}) || isSameInstant(sent, shown);
  const entries = new Map(Object.entries(Object(shown)));
  return Object.entries(sent).every(([name, value]) =>
    value === null ? !entries.has(name) : entries.get(name) === value,
  );
}
