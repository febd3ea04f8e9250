// Sequences of calls by two organizations in turn, checked against a model of each organization.
import fc from 'fast-check';
import { createConformityCheck } from '../../src/contract/conformity.ts';
import type { Json, Operation } from '../../src/contract/document.ts';
import { createReferences } from '../support/contract/resources.ts';
import type { TestOrganization } from '../support/http/server.ts';
import {
  type Chosen,
  type Command,
  Create,
  Follow,
  Get,
  List,
  type Listing,
  must,
  type Send,
  type Tag,
  type Who,
  Write,
} from './commands.ts';
import { curlOf } from './outgoing.ts';
import { type Resource, Rows, resourcesOf, schemaOf } from './resource-model.ts';
import { validValue } from './values.ts';
import { isSlow, type World } from './world.ts';

const MOST_COMMANDS = 30;

export type How = { readonly seed: number; readonly numRuns: number; readonly path?: string };

/**
 * Runs the sequences of each resource of the document. `path` begins with the resource's own, and may end in "/" and
 * fast-check's encoding of the commands that ran.
 */
export async function checkSequences(document: Json, world: World, how: How) {
  const [table, ...start] = how.path?.split('/') ?? [];
  const resources = resourcesOf(document).filter(({ path }) => table === undefined || tableOf(path) === table);
  const [first, ...others] = resources;
  if (first === undefined) throw new Error(`No resource of the document is ${JSON.stringify(table ?? 'complete')}.`);
  let details = await checkResource(first, { document, world, how, start });
  for (const other of others) {
    if (details.failed) break;
    details = await checkResource(other, { document, world, how, start });
  }
  return details;
}

const tableOf = (path: string) => path.split('/').at(-1) ?? '';

type Checking = {
  readonly document: Json;
  readonly world: World;
  readonly how: How;
  readonly start: readonly string[];
};

async function checkResource(resource: Resource, { document, world, how: { seed, numRuns }, start }: Checking) {
  const check = createConformityCheck(document);
  const [path, replayPath] = start;
  const options = { maxCommands: MOST_COMMANDS, size: 'max', ...(replayPath !== undefined && { replayPath }) } as const;
  const property = fc.asyncProperty(fc.commands(commandsFor(resource), options), async (commands) => {
    const organizations = [await world.newOrganization(), await world.newOrganization()] as const;
    const [first, second] = organizations;
    const references = [
      await createReferences(first.client, resource.creation),
      await createReferences(second.client, resource.creation),
    ] as const;
    const lines: string[] = [];
    const send = sender({ world, check, organizations, lines });
    try {
      await fc.asyncModelRun(
        () => ({ model: [new Rows(resource), new Rows(resource)] as const, real: { send, references } }),
        commands,
      );
    } catch (error) {
      throw new Error([error instanceof Error ? error.message : error, ...lines].join('\n'));
    }
  });
  const details = await fc.check(property, { seed, numRuns, ...(path !== undefined && { path }) });
  const ran = /replayPath="([^"]*)"/.exec(String(details.counterexample?.[0]))?.[1];
  return { ...details, counterexamplePath: `${tableOf(resource.path)}/${details.counterexamplePath}/${ran}` };
}

/** Few names, so that they collide; each lower-case letter has exactly one upper-case letter in every locale. */
const NAMES = ['Nordic Scholars', 'nordic 100%', 'Alp_ne \\ School', 'alp', 'Z', 'a', '\u{1f469}\u200d', '\uffee'];
const PARTS = ['nord', 'ORD', '100%', 'lp_', ' \\ ', 'olar', '%%%'];
const IDS = ['sis-1', 'sis-2', 'SIS-1'];

function commandsFor(resource: Resource): fc.Arbitrary<Command>[] {
  const { creation, update, removal, references, feed } = resource;
  const who = fc.constantFrom<Who>(0, 1);
  const chosen = fc
    .record({
      who,
      isForeign: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
      at: fc.nat(),
    })
    .map(({ isForeign, ...rest }): Chosen => ({ ...rest, of: isForeign ? otherThan(rest.who) : rest.who }));
  const tag = fc.constantFrom<Tag>('none', 'none', 'current', 'other', 'weak', 'any');
  const key = fc.constantFrom(undefined, undefined, undefined, 'a', 'b');
  const isForeign = references.length === 0 ? fc.constant(false) : fc.constantFrom(false, false, false, true);
  const creating = (body: fc.Arbitrary<Json>) =>
    fc
      .tuple(who, body, key, isForeign)
      .map(
        ([by, each, ofKey, refersElsewhere]) =>
          new Create(by, { body: each, refersTo: refersElsewhere ? otherThan(by) : by, key: ofKey }),
      );
  const writing = (patch: fc.Arbitrary<Json | null>) =>
    fc.tuple(chosen, tag, patch).map(([which, each, change]) => new Write(which, each, change));
  return [
    creating(fewValues(resource, creation)),
    creating(anyBody(creation)),
    fc.tuple(chosen, tag).map(([which, each]) => new Get(which, each)),
    ...(update === undefined ? [] : [writing(fewValues(resource, update)), writing(anyBody(update))]),
    ...(removal === undefined ? [] : [writing(fc.constant(null))]),
    fc.tuple(who, listing(resource)).map(([by, each]) => new List(by, each)),
    ...(feed === undefined
      ? []
      : [fc.tuple(who, fc.integer({ min: 1, max: 5 })).map(([by, limit]) => new Follow(by, feed, limit))]),
  ];
}

const otherThan = (who: Who): Who => (who === 0 ? 1 : 0);

function anyBody(operation: Operation): fc.Arbitrary<Json> {
  return validValue(schemaOf(operation)).map((value) => Object(value));
}

/** Bodies with a few names and unique values, so that they collide. Other fields are only sent if they must be, or if they are booleans. */
function fewValues({ unique }: Resource, operation: Operation): fc.Arbitrary<Json> {
  const { properties = {}, required = [] } = schemaOf(operation);
  const values = Object.entries(properties).flatMap(([field, schema]): [string, fc.Arbitrary<unknown>][] => {
    if (field === 'name') return [[field, fc.constantFrom(...NAMES)]];
    if (unique.includes(field)) return [[field, fc.constantFrom(...IDS, null)]];
    return required.includes(field) || schema.type === 'boolean' ? [[field, validValue(schema)]] : [];
  });
  return fc.record(Object.fromEntries(values), { requiredKeys: [...required], noNullPrototype: true });
}

/** Every sort order, and every filter by a name, a unique field, a boolean or the time of the last change. */
function listing({ list, unique }: Resource): fc.Arbitrary<Listing> {
  const parameters = new Map(list.parameters?.map(({ name, schema }) => [name, schema]));
  const values: [string, fc.Arbitrary<string>][] = [
    ['search', fc.constantFrom(...PARTS)],
    ...unique.map((name): [string, fc.Arbitrary<string>] => [name, fc.constantFrom(...IDS)]),
    ...[...parameters]
      .filter(([, schema]) => schema.type === 'boolean')
      .map(([name]): [string, fc.Arbitrary<string>] => [name, fc.constantFrom('true', 'false')]),
  ];
  const declared = values.filter(([name]) => parameters.has(name));
  return fc.record({
    sort: fc.constantFrom(...(parameters.get('sort')?.enum ?? []).map(String)),
    limit: fc.integer({ min: 1, max: 5 }),
    filters: fc.subarray(declared).chain((chosen) => fc.record(Object.fromEntries(chosen), { noNullPrototype: true })),
    since: parameters.has('updated_since') ? fc.option(fc.nat()) : fc.constant(null),
  });
}

type Sender = {
  readonly world: World;
  readonly check: ReturnType<typeof createConformityCheck>;
  readonly organizations: readonly [TestOrganization, TestOrganization];
  /** The requests sent. */
  readonly lines: string[];
};

/** Also checks every response against the document. */
function sender({ world, check, organizations, lines }: Sender): Send {
  return async (who, { method, url, headers = {}, body }) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const outgoing = { method, url, headers, body: text, key: 'ours', scheme: 'Bearer ' } as const;
    lines.push(curlOf({ ...outgoing, key: who === 0 ? 'ours' : 'other organization' }));
    // A repeated write would diverge from the model; the property of single requests detects slow writes.
    const isReading = method === 'GET';
    const response = await (isReading ? world.send : world.sendOnce)(outgoing, organizations[who]);
    const { disagreements } = check({ method, url }, response);
    must(disagreements.length === 0, `of its response, ${response.status}: ${disagreements.join(' ')}`);
    must(!isReading || !isSlow(response), `it took ${response.seconds.toFixed(1)} seconds, again and again.`);
    return response;
  };
}
