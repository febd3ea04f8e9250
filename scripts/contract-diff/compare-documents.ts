// Compares two versions of the contract and lists every change. A change without a rule counts as breaking. If the documents
// differ but there is no change, they have the same meaning in another notation.
import { type Json, METHODS } from '../../src/contract/document.ts';
import {
  compareOperation,
  compareParameter,
  compareRequestBody,
  compareResponse,
  operationOf,
  type Travel,
} from './compare-operation.ts';
import { compareSchema } from './compare-schema.ts';
import {
  atPart,
  type Change,
  type Comparison,
  compareFields,
  type FieldRules,
  inside,
  newComparison,
  newFindings,
  type Pair,
  SECTIONS,
  spotOf,
} from './comparison.ts';
import { hasOwn, isSame, listOf, member, namesOf, objectOf } from './json.ts';

const DOCUMENT: FieldRules = {
  'words changed': 'tags externalDocs',
  // The default `security` is compared as a part of each operation that uses it.
  elsewhere: 'openapi info servers paths webhooks components security',
};
const INFO: FieldRules = {
  'words changed': 'title summary description termsOfService contact license',
  elsewhere: 'version',
};
const PATH_ITEM: FieldRules = {
  'words changed': 'summary description',
  elsewhere: ['parameters', ...METHODS].join(' '),
};
const SERVER: FieldRules = { 'words changed': 'description', elsewhere: 'url variables' };
const SERVER_VARIABLE: FieldRules = { 'words changed': 'description', 'server changed': 'default enum' };

export function compareDocuments(before: Json, after: Json): Change[] {
  const findings = newFindings();
  const comparison = newComparison(before, after, findings);
  const pair = { spot: spotOf('The document'), direction: 'request', before, after } as const;

  compareSpecification(comparison, pair);
  compareFields(comparison, pair, DOCUMENT);
  compareFields(comparison, inside(pair, 'info'), INFO);
  compareServers(comparison, pair);
  comparePaths(comparison, pair, 'paths', { sent: 'request', returned: 'response' });
  comparePaths(comparison, pair, 'webhooks', { sent: 'response', returned: 'request' });
  compareComponents(comparison, inside(pair, 'components'));

  if (findings.changes().length === 0 && !isSame(withoutNumber(before), withoutNumber(after)))
    findings.report('writing changed', pair.spot, pair.direction);
  return findings.changes();
}

/** Returns the document without its version number, which every release changes. */
function withoutNumber(document: Json): Json {
  const { version: _, ...info } = objectOf(document['info']);
  return { ...document, info };
}

function compareSpecification({ report }: Comparison, { spot, direction, before, after }: Pair<Json>): void {
  const [was, is] = [before, after].map((document) => String(document['openapi']));
  const [wasMinor, isMinor] = [was, is].map((version) => version?.split('.', 2).join('.'));
  if (was === is) return;
  report(wasMinor === isMinor ? 'specification patched' : 'specification changed', spot, direction, {
    before: was,
    after: is,
  });
}

function compareServers(comparison: Comparison, pair: Pair<Json>): void {
  const { spot, direction } = pair;
  const [olds, news] = [pair.before, pair.after].map((document) => listOf(document['servers']).map(objectOf));
  if (olds === undefined || news === undefined) return;
  const find = (servers: readonly Json[], { url }: Json) => servers.find((server) => server['url'] === url);
  for (const server of news.filter((one) => find(olds, one) === undefined))
    comparison.report('server added', spot, direction, { name: String(server['url']) });
  for (const before of olds) {
    const name = String(before['url']);
    const after = find(news, before);
    if (after === undefined) comparison.report('server removed', spot, direction, { name });
    else compareServer(comparison, { direction, spot: atPart(spot, `server ${name}`), before, after });
  }
}

function compareServer(comparison: Comparison, pair: Pair<Json>): void {
  compareFields(comparison, pair, SERVER);
  const variables = inside(pair, 'variables');
  for (const name of namesOf(variables.before, variables.after))
    compareFields(
      comparison,
      { ...inside(variables, name), spot: atPart(pair.spot, `variable ${name}`) },
      SERVER_VARIABLE,
    );
}

function comparePaths(comparison: Comparison, pair: Pair<Json>, section: 'paths' | 'webhooks', travel: Travel): void {
  const direction = travel.sent;
  const paths = inside(pair, section);
  for (const path of namesOf(paths.before, paths.after)) {
    const before = comparison.before(member(paths.before, path)).node;
    const after = comparison.after(member(paths.after, path)).node;
    const item = section === 'paths' ? path : `webhook ${path}`;
    compareFields(comparison, { direction, spot: spotOf(item), before, after }, PATH_ITEM);
    for (const method of METHODS) {
      const name = section === 'paths' ? `${method.toUpperCase()} ${path}` : item;
      const old = operationOf(pair.before, before, method);
      const now = operationOf(pair.after, after, method);
      if (old !== null && now !== null) compareOperation(comparison, { name, before: old, after: now, travel });
      else if (now !== null) comparison.report('operation added', spotOf(name), direction);
      else if (old !== null)
        comparison.report('operation removed', spotOf(name), direction, {
          wasDeprecated: old.node['deprecated'] === true,
        });
    }
  }
}

// Compares the named components. A new name is a change, because clients have types with these names. The content of a component
// is compared here only if no operation uses the component.

const SECURITY_SCHEME: FieldRules = {
  'words changed': 'description bearerFormat',
  'security scheme changed': 'type scheme in name flows openIdConnectUrl',
};

const COMPARERS: Readonly<Record<string, (comparison: Comparison, pair: Pair<unknown>) => void>> = {
  schemas: (comparison, pair) => {
    compareSchema(comparison, { ...pair, direction: 'request' });
    compareSchema(comparison, { ...pair, direction: 'response' });
  },
  responses: compareResponse,
  parameters: compareParameter,
  headers: (comparison, pair) => compareParameter(comparison, { ...pair, direction: 'response' }),
  requestBodies: compareRequestBody,
  securitySchemes: (comparison, pair) =>
    compareFields(comparison, { ...pair, before: objectOf(pair.before), after: objectOf(pair.after) }, SECURITY_SCHEME),
};

/** The sections whose components may be renamed: clients see only the name that an operation gives to an example. */
const NAMELESS = ['examples'];

function compareComponents(comparison: Comparison, pair: Pair<Json>): void {
  const sections = namesOf(pair.before, pair.after).filter((section) => !NAMELESS.includes(section));
  for (const section of sections) compareSection(comparison, inside(pair, section), section);
}

function compareSection(comparison: Comparison, pair: Pair<Json>, section: string): void {
  const { report } = comparison;
  const { spot, direction, before, after } = pair;
  const kind = SECTIONS[section] ?? section;
  const news = new Set(namesOf(after).filter((name) => !hasOwn(before, name)));
  for (const name of namesOf(before)) {
    const component = `${kind} ${name}`;
    const successor = [...news].find((candidate) => isSame(after[candidate], before[name]));
    if (hasOwn(after, name)) {
      compareContents(comparison, { ...pair, before: before[name], after: after[name] }, { section, component });
    } else if (successor !== undefined) {
      news.delete(successor);
      report('component renamed', spot, direction, { before: component, after: `${kind} ${successor}` });
    } else {
      report('component removed', spot, direction, { name: component });
    }
  }
  for (const name of news) report('component added', spotOf(`${kind} ${name}`), direction);
}

function compareContents(
  comparison: Comparison,
  contents: Pair<unknown>,
  { section, component }: { section: string; component: string },
): void {
  if (comparison.compared.has(component)) return;
  const pair = { ...contents, spot: spotOf(component) };
  const compare = COMPARERS[section];
  if (compare !== undefined) compare(comparison, pair);
  else if (!isSame(pair.before, pair.after))
    comparison.report('unknown changed', pair.spot, pair.direction, { name: 'content', before: '...', after: '...' });
}
