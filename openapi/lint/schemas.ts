import { isObject, type Json } from '../../src/contract/document.ts';
import type { Context, Place } from './rule.ts';

/**
 * Calls `visit` for a schema and every schema within it, through references. Redocly visits a schema only once, even if a
 * response and a request use it, so a rule for one of the two walks the schemas itself.
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

/** The same for the JSON body of a request or a response. */
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
