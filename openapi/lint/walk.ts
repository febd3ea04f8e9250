import { isObject, type Json, METHODS } from '../../src/contract/document.ts';
import type { Context, Place } from './rule.ts';

// Functions for rules that compare parts of the contract with each other. These functions follow every reference, because Redocly
// visits a part only once, even if several references lead to that part.

/** A part of the contract and where it is written. */
export type Part = { readonly node: Json; readonly place: Place };

/**
 * Returns all operations and webhooks whose references can be resolved, in the contract's order. `root` is the whole contract.
 */
export function operationsIn(root: Json, context: Context): (Part & { readonly method: string })[] {
  return ['paths', 'webhooks']
    .flatMap((section) => membersOf({ node: root, place: context.location }, section, context))
    .flatMap((paths) => membersIn(paths, context))
    .flatMap((item) =>
      METHODS.flatMap((method) => membersOf(item, method, context).map((part) => ({ ...part, method }))),
    );
}

/** Returns the members of an object that are themselves objects. */
export function membersIn(part: Part, context: Context): Part[] {
  return Object.keys(part.node).flatMap((name) => membersOf(part, name, context));
}

/**
 * Returns the member at a path of names, as an array of one part. Follows references. The array is empty if a value on the path
 * is not an object.
 */
export function memberAt(part: Part, path: readonly string[], context: Context): Part[] {
  return path.reduce<Part[]>((parts, name) => parts.flatMap((each) => membersOf(each, name, context)), [part]);
}

function membersOf({ node, place }: Part, name: string, context: Context): Part[] {
  const member = node[name];
  if (!isObject(member)) return [];
  if (member['$ref'] === undefined) return [{ node: member, place: place.child(name) }];
  const { node: target, location } = context.resolve(member, place.source.absoluteRef);
  return isObject(target) && location !== undefined ? [{ node: target, place: location }] : [];
}

/**
 * Calls `visit` for a schema and for every schema within it. Follows references. Rules that concern only requests or only
 * responses need this function, because Redocly visits a schema only once even if both use the schema.
 */
export function walkSchemas(
  value: unknown,
  place: Place,
  context: Context,
  visit: (schema: Json, place: Place) => void,
): void {
  if (!isObject(value)) return;
  if (value['$ref'] !== undefined) {
    const { node, location } = context.resolve(value, place.source.absoluteRef);
    if (location !== undefined) walkSchemas(node, location, context, visit);
    return;
  }
  visit(value, place);
  for (const [path, inner] of schemasIn(value)) walkSchemas(inner, place.child(path), context, visit);
}

/** Calls `visit` for every schema in the JSON body of a request or a response. */
export function walkBody({ content }: Json, context: Context, visit: (schema: Json, place: Place) => void): void {
  const media = isObject(content) ? content['application/json'] : undefined;
  const schema = isObject(media) ? media['schema'] : undefined;
  walkSchemas(schema, context.location.child(['content', 'application/json', 'schema']), context, visit);
}

function schemasIn(schema: Json): [path: string[], schema: unknown][] {
  const single = ['items', 'propertyNames', 'additionalProperties'].map((name): [string[], unknown] => [
    [name],
    schema[name],
  ]);
  const named = ['properties', 'allOf', 'anyOf', 'oneOf'].flatMap((name) =>
    Object.entries(Object(schema[name])).map(([key, inner]): [string[], unknown] => [[name, key], inner]),
  );
  return [...single, ...named];
}
