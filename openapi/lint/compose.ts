import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { isObject, type Json } from '../../src/contract/document.ts';
import { signatureOf } from '../../src/domain/webhooks/webhook-message.ts';
import { type Context, report } from './rule.ts';

// The sources of the contract say some things once that the published contract says in several places. Redocly calls these
// visitors before it lints or bundles; they change the nodes in place.

/**
 * Within the value of an example, `x-example: NAME` stands for the value of that example, without the members that `x-omit`
 * lists; the members beside it replace members of that value. `{signature}` stands for the signature that `x-signature`
 * beside the value describes.
 */
export const examples = {
  Example(example: Record<string, unknown>, context: Context): void {
    const { 'x-signature': signed, value } = example;
    const folder = join(dirname(context.location.source.absoluteRef), '../examples');
    const unknown = namesIn(example).find((name) => !existsSync(fileOfExample(name, folder)));
    if (unknown !== undefined) {
      const message = `There is no example "${unknown}".`;
      report(context, { at: context.location, message, remedy: 'Name a file of openapi/components/examples.' });
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

/**
 * A property that is a `$ref` to a file in components/properties becomes the target of the `$ref`. The keywords beside it
 * replace keywords of the target; null removes one.
 */
export const properties = {
  Schema({ properties: members }: Json, { location, resolve }: Context): void {
    if (!isObject(members)) return;
    for (const [name, member] of Object.entries(members)) {
      if (!isObject(member) || !String(member['$ref']).includes('/properties/')) continue;
      const { $ref, ...changes } = member;
      const { node } = resolve({ $ref }, location.source.absoluteRef);
      if (!isObject(node)) continue;
      members[name] = Object.fromEntries(Object.entries({ ...node, ...changes }).filter(([, value]) => value !== null));
    }
  },
};

function composeValue(value: unknown, folder: string): unknown {
  if (Array.isArray(value)) return value.map((item) => composeValue(item, folder));
  if (!isObject(value)) return value;
  const { 'x-example': name, 'x-omit': omitted = [], ...members } = value;
  const base = typeof name === 'string' ? Object.entries(Object(exampleValue(name, folder))) : [];
  const kept = base.filter(([member]) => ![omitted].flat().includes(member));
  const own = Object.entries(members).map(([member, content]) => [member, composeValue(content, folder)]);
  return Object.fromEntries([...kept, ...own]);
}

/** The examples that a value stands for. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, content]) =>
    member === 'x-example' ? [String(content)] : namesIn(content),
  );
}

const fileOfExample = (name: string, folder: string) => join(folder, `${name}.yaml`);

function exampleValue(name: string, folder: string): unknown {
  const { value } = parse(readFileSync(fileOfExample(name, folder), 'utf8'));
  return composeValue(value, folder);
}

function signatureFor({ 'x-example': example, timestamp, secret }: Json, folder: string): string {
  const event = exampleValue(String(example), folder);
  const message = { id: Object(event).id, timestamp: Number(timestamp), body: JSON.stringify(event) };
  return signatureOf(message, [Buffer.from(String(secret).slice('whsec_'.length), 'base64')]);
}
