// Compares two versions of the contract and lists every change. A change without a rule is breaking. If no change is found
// and yet the documents differ, they are only written differently.

import { type Json, METHODS } from '../../src/contract/document.ts';
import { compareComponents } from './compare-components.ts';
import { compareOperation, operationOf, type Travel } from './compare-operation.ts';
import { type Comparison, compareFields, type FieldRules, newComparison, type Pair } from './comparison.ts';
import { type Change, newFindings } from './findings.ts';
import { isSame, listOf, member, namesOf, objectOf } from './json.ts';
import { atPart, spotOf } from './place.ts';

const WORDS = 'words changed';
const DOCUMENT: FieldRules = {
  openapi: null,
  info: null,
  servers: null,
  paths: null,
  webhooks: null,
  components: null,
  security: null, // compared for each operation
  tags: WORDS,
  externalDocs: WORDS,
};
const INFO: FieldRules = {
  version: null,
  title: WORDS,
  summary: WORDS,
  description: WORDS,
  termsOfService: WORDS,
  contact: WORDS,
  license: WORDS,
};
const PATH_ITEM: FieldRules = {
  summary: WORDS,
  description: WORDS,
  parameters: null,
  ...Object.fromEntries(METHODS.map((method) => [method, null])),
};
const SERVER: FieldRules = { url: null, description: WORDS, variables: null };
const SERVER_VARIABLE: FieldRules = { description: WORDS, default: 'server changed', enum: 'server changed' };

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

  if (findings.changes().length === 0 && !isSame(unnumbered(before), unnumbered(after)))
    findings.report('writing changed', pair.spot, pair.direction);
  return findings.changes();
}

/** The document without its version number, which every release changes. */
function unnumbered(document: Json): Json {
  const { version: _, ...info } = objectOf(document['info']);
  return { ...document, info };
}

function inside({ before, after, ...rest }: Pair<Json>, name: string): Pair<Json> {
  return { ...rest, before: objectOf(before[name]), after: objectOf(after[name]) };
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
