// Sequences of calls by two organizations in turn, checked against a model of each organization.
import fc from 'fast-check';
import { createConformityCheck } from '../../src/api/conformity.ts';
import { type Json, operationsOf } from '../../src/api/document.ts';
import type { TestOrganization } from '../support/server.ts';
import {
  type Chosen,
  type Command,
  Create,
  Get,
  LIST,
  List,
  must,
  type Send,
  type Tag,
  type Who,
  Write,
} from './commands.ts';
import { curlOf } from './outgoing.ts';
import { Programs } from './parent-program-model.ts';
import { validValue } from './values.ts';
import { isSlow, type World } from './world.ts';

const MOST_COMMANDS = 30;

export type How = { readonly seed: number; readonly numRuns: number; readonly path?: string };

/** `path` may end in "/" and fast-check's encoding of the commands that ran. */
export async function checkSequences(document: Json, world: World, { seed, numRuns, path: start }: How) {
  const check = createConformityCheck(document);
  const [path, replayPath] = start?.split('/') ?? [];
  const options = { maxCommands: MOST_COMMANDS, size: 'max', ...(replayPath !== undefined && { replayPath }) } as const;
  const property = fc.asyncProperty(fc.commands(commandsFor(document), options), async (commands) => {
    const organizations = [await world.newOrganization(), await world.newOrganization()] as const;
    const lines: string[] = [];
    const send = sender({ world, check, organizations, lines });
    try {
      await fc.asyncModelRun(() => ({ model: [new Programs(), new Programs()] as const, real: { send } }), commands);
    } catch (error) {
      throw new Error([error instanceof Error ? error.message : error, ...lines].join('\n'));
    }
  });
  const details = await fc.check(property, { seed, numRuns, ...(path !== undefined && { path }) });
  const ran = /replayPath="([^"]*)"/.exec(String(details.counterexample?.[0]))?.[1];
  return { ...details, counterexamplePath: `${details.counterexamplePath}/${ran}` };
}

/** Few names, so that they collide; each lower-case letter has exactly one upper-case letter in every locale. */
const NAMES = ['Nordic Scholars', 'nordic 100%', 'Alp_ne \\ School', 'alp', 'Z', 'a', '\u{1f469}\u200d', '\uffee'];
const PARTS = ['nord', 'ORD', '100%', 'lp_', ' \\ ', 'olar', '%%%'];
const IDS = ['sis-1', 'sis-2', 'SIS-1'];

function commandsFor(document: Json): fc.Arbitrary<Command>[] {
  const operations = operationsOf(document);
  const bodyOf = (method: string) => {
    const operation = operations.find((each) => each.method === method && each.path.startsWith(LIST));
    return validValue(Object(operation?.requestBody?.content['application/json']?.schema));
  };
  const who = fc.constantFrom<Who>(0, 1);
  const chosen = fc
    .record({
      who,
      isForeign: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
      at: fc.nat(),
    })
    .map(({ isForeign, ...rest }): Chosen => ({ ...rest, of: isForeign ? (rest.who === 0 ? 1 : 0) : rest.who }));
  const tag = fc.constantFrom<Tag>('none', 'none', 'current', 'other', 'weak', 'any');
  const name = fc.constantFrom(...NAMES);
  const external = fc.constantFrom(...IDS, null);
  const key = fc.constantFrom(undefined, undefined, undefined, 'a', 'b');
  const few = fc.record({ name, external_id: external }, { requiredKeys: ['name'], noNullPrototype: true });
  const some = fc.record({ name, external_id: external }, { requiredKeys: [], noNullPrototype: true });
  const filters = fc.record(
    { search: fc.constantFrom(...PARTS), external_id: fc.constantFrom(...IDS) },
    { requiredKeys: [], noNullPrototype: true },
  );
  const sort = fc.constantFrom('created_at', '-created_at', 'updated_at', '-updated_at', 'name', '-name');
  const listing = fc.record({ sort, limit: fc.integer({ min: 1, max: 5 }), filters, since: fc.option(fc.nat()) });
  return [
    fc.tuple(who, few, key).map(([by, body, each]) => new Create(by, body, each)),
    fc.tuple(who, bodyOf('post'), key).map(([by, body, each]) => new Create(by, Object(body), each)),
    fc.tuple(chosen, tag).map(([which, each]) => new Get(which, each)),
    fc.tuple(chosen, tag, some).map(([which, each, patch]) => new Write(which, each, patch)),
    fc.tuple(chosen, tag, bodyOf('patch')).map(([which, each, patch]) => new Write(which, each, Object(patch))),
    fc.tuple(chosen, tag).map(([which, each]) => new Write(which, each, null)),
    fc.tuple(who, listing).map(([by, each]) => new List(by, each)),
  ];
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
