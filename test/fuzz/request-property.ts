// A sequence of requests generated from the document, in a new organization.
import fc from 'fast-check';
import { createConformityCheck } from '../../src/contract/conformity.ts';
import { type Json, operationsOf } from '../../src/contract/document.ts';
import type { Operation } from '../support/contract/contract.ts';
import { requestFor } from '../support/contract/every-operation.ts';
import { createReferences, listOf, resourceOf } from '../support/contract/resources.ts';
import type { TestOrganization } from '../support/servers/server.ts';
import { type Draft, OWN_ID } from './draft.ts';
import { complaintsOf } from './judge.ts';
import { curlOf, type Outgoing } from './outgoing.ts';
import { anyDraft, expectationOf } from './requests.ts';
import type { World } from './world.ts';

const MOST_REQUESTS = 20;

/** Checks every response against the document. */
export function requestProperty(document: Json, world: World) {
  const operations = operationsOf(document);
  const check = createConformityCheck(document);
  const drafts = fc.array(anyDraft(operations), { minLength: 1, maxLength: MOST_REQUESTS, size: 'max' });
  // An organization to which nothing was written is used again, which saves shrinking most of its time.
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

/** The body with ids of existing rows: the server refuses a reference to any other, even if the schema allows it. */
async function referringBody({ operation, body }: Draft, { ours }: Place): Promise<Draft['body']> {
  if (typeof body !== 'string') return body;
  const references = await createReferences(ours.client, operation);
  return Object.entries(references).reduce((text, [name, id]) => {
    const given = new RegExp(`"${name}"\\s*:\\s*"([0-9a-f-]{36})"`, 'i').exec(text)?.[1];
    return given === undefined ? text : text.replaceAll(given, id);
  }, body);
}

/** Creates an item with the create operation of the collection in the path, or one that a new row adds to the collection. */
async function make({ path }: Operation, { operations, world, ours }: Place): Promise<Outgoing['made']> {
  const created = resourceOf({ path }).path;
  const creation = operations.find((other) => other.path === created && other.method === 'post');
  if (creation === undefined) throw new Error(`Nothing in the document creates ${created}.`);
  const references = await createReferences(ours.client, creation);
  const { method, url, body } = requestFor(creation, { id: '', references });
  const by: Outgoing = { method, url, headers: {}, body: JSON.stringify(body), key: 'ours', scheme: 'Bearer ' };
  const response = await world.send(by, ours).catch((error: Error) => {
    throw new Error(`${error.message}\n${curlOf(by)}`);
  });
  const list = listOf({ path });
  if (list === created) return { by: [by], id: String(response.body.id) };
  const listing: Outgoing = { ...by, method: 'GET', url: `${list}?limit=1`, body: undefined };
  const { body: page } = await world.send(listing, ours);
  return { by: [by, listing], id: String(page.data[0]?.id) };
}
