import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';
import { isObject, type Json } from '../../src/contract/document.ts';
import { signatureOf } from '../../src/domain/webhooks/webhook-message.ts';
import { type Context, report } from './rule.ts';

// Some content that the published contract contains in several places is written only once in its source files. Redocly calls
// these visitors before it lints or bundles the files. The visitors change the nodes in place.

/**
 * Replaces the placeholders in an example:
 *
 * - `x-example: NAME` in a value adds the members of the example NAME. Members beside `x-example` take precedence.
 * - `x-schema: NAME` in a value keeps only the members that the schema NAME has, in the schema's order. A required member that is
 *   missing becomes null.
 * - `{signature}` in a value becomes the signature that `x-signature` beside the value describes.
 * - `{fields ParentProgramCreate}` in a string becomes the names of the schema's properties, `{values Event.type}` the values of
 *   the property, and `{parameters parent_programs.yaml}` the query parameters of the file's GET operation.
 */
export const examples = {
  Example(example: Record<string, unknown>, context: Context): void {
    const { 'x-signature': signed, value } = example;
    const folder = join(context.location.source.absoluteRef.replace(PLACE, ''), 'components/examples');
    const unknown = filesIn(example).find((file) => !existsSync(join(folder, file)));
    if (unknown !== undefined) {
      const message = `An example refers to a file that does not exist: ${join('openapi/components/examples', unknown)}.`;
      report(context, { at: context.location, message, remedy: 'Correct the name, or add the file.' });
      return;
    }
    if (isObject(signed)) {
      delete example['x-signature'];
      example['value'] = String(value).replace('{signature}', () => signatureFor(signed, folder));
    } else if ('value' in example) {
      example['value'] = composeValue(value, folder);
    }
  },
};

/** Matches the end of a path in the contract's folder, after the folder's name. */
const PLACE = /\/(components\/\w+|paths|webhooks)?\/?[^/]+$/;

/**
 * Replaces each `$ref` to a file in components/properties with the content of the file. Such a `$ref` is in a parameter or in the
 * properties of a schema. Keywords beside the `$ref` replace keywords of the file; a `null` removes a keyword.
 */
export const properties = {
  Schema({ properties: members }: Json, context: Context): void {
    if (isObject(members)) composeMembers(members, context);
  },
  Parameter(parameter: Record<string, unknown>, context: Context): void {
    composeMembers(parameter, context);
  },
};

function composeMembers(members: Record<string, unknown>, { location, resolve }: Context): void {
  for (const [name, member] of Object.entries(members)) {
    if (!isObject(member) || !String(member['$ref']).includes('/properties/')) continue;
    const { $ref, ...changes } = member;
    const { node } = resolve({ $ref }, location.source.absoluteRef);
    if (!isObject(node)) continue;
    members[name] = Object.fromEntries(Object.entries({ ...node, ...changes }).filter(([, value]) => value !== null));
  }
}

function composeValue(value: unknown, folder: string): unknown {
  if (typeof value === 'string')
    return value.replaceAll(LIST, (_, kind, name) => listOf(kind, name, folder).join(', '));
  if (Array.isArray(value)) return value.map((item) => composeValue(item, folder));
  if (!isObject(value)) return value;
  const { 'x-example': name, 'x-schema': schema, ...members } = value;
  const base = typeof name === 'string' ? Object(exampleValue(name, folder)) : {};
  const own = Object.entries(members).map(([member, content]) => [member, composeValue(content, folder)]);
  const composed: Json = { ...base, ...Object.fromEntries(own) };
  return typeof schema === 'string' ? withMembersOf(schema, composed, folder) : composed;
}

function withMembersOf(schema: string, value: Json, folder: string): Json {
  const { properties: known, required = [] } = parse(readFileSync(join(folder, `../schemas/${schema}.yaml`), 'utf8'));
  const kept = Object.keys(known).filter((member) => member in value || required.includes(member));
  return Object.fromEntries(kept.map((member) => [member, value[member] ?? null]));
}

const LIST = /\{(fields|values|parameters) ([\w.]+)\}/g;
const FILES: Readonly<Record<string, (name: string) => string>> = {
  fields: (name) => `../schemas/${name}.yaml`,
  values: (name) => `../schemas/${name.split('.')[0]}.yaml`,
  parameters: (name) => `../../paths/${name}`,
};

/** Returns the names or values that a placeholder such as `{fields ParentProgramCreate}` stands for. */
function listOf(kind: string, name: string, folder: string): string[] {
  const file = join(folder, FILES[kind]?.(name) ?? '');
  const read = (path: string) => Object(parse(readFileSync(join(dirname(file), path), 'utf8')));
  const content = read(basename(file));
  if (kind === 'fields') return Object.keys(content.properties);
  if (kind === 'values') {
    const { $ref, enum: values } = content.properties[name.split('.')[1] ?? ''];
    const [path = '', member = ''] = String($ref).split('#/');
    return values ?? read(path)[member].enum;
  }
  const parameters: { $ref: string }[] = content.get.parameters;
  return parameters.map(({ $ref }) => read($ref)).flatMap((each) => (each.in === 'query' ? [each.name] : []));
}

/** Returns the files to which the placeholders in a value refer, relative to the folder of the examples. */
function filesIn(value: unknown): string[] {
  if (typeof value === 'string')
    return [...value.matchAll(LIST)].map(([, kind = '', name = '']) => FILES[kind]?.(name) ?? '');
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, content]) =>
    member === 'x-example'
      ? [`${content}.yaml`]
      : member === 'x-schema'
        ? [`../schemas/${content}.yaml`]
        : filesIn(content),
  );
}

function exampleValue(name: string, folder: string): unknown {
  const { value } = parse(readFileSync(join(folder, `${name}.yaml`), 'utf8'));
  return composeValue(value, folder);
}

function signatureFor({ 'x-example': example, timestamp, secret }: Json, folder: string): string {
  const event = exampleValue(String(example), folder);
  const message = { id: Object(event).id, timestamp: Number(timestamp), body: JSON.stringify(event) };
  return signatureOf(message, [Buffer.from(String(secret).slice('whsec_'.length), 'base64')]);
}
