import type { ErrorObject } from 'ajv';
import { Violations } from '../../src/api/violations.ts';
import type { Json, Operation, Schema } from '../../src/contract/document.ts';
import { uuidOf } from './collection.ts';
import { emptyValueOf, inServerOrder, mergePatch, schemaOfMember } from './merge-patch.ts';

/** What a write has sent, and the schema of the response. */
type Write = { readonly operation: Operation; readonly sent: Json; readonly schema: Schema };

/** The example with the fields that were sent; fields that could have been sent and were not are empty. */
export function createdBody(example: Json, { operation, sent, schema }: Write): Json {
  const writable = operation.requestBody?.content['application/json']?.schema.properties ?? {};
  const empty = Object.keys(writable).flatMap((name) => {
    const value = emptyValueOf(schemaOfMember(schema, name) ?? {});
    return value === undefined ? [] : [[name, value] as const];
  });
  const body = inServerOrder(mergePatch({ ...example, ...Object.fromEntries(empty) }, sent, schema), schema);
  // The same for the same body, so that a retry gets the same response.
  return 'id' in body ? { ...body, id: uuidOf(`${operation.path} ${JSON.stringify(sent)}`) } : body;
}

/** Moves updated_at where the change changes something, as the contract says. */
export function updatedBody(current: Json, { sent, schema }: Write): Json {
  const body = inServerOrder(mergePatch(current, sent, schema), schema);
  const updatedAt = current['updated_at'];
  if (typeof updatedAt !== 'string' || JSON.stringify(body) === JSON.stringify(current)) return body;
  return { ...body, updated_at: new Date(Date.parse(updatedAt) + 1000).toISOString() };
}

/** Throws a 422 for a body that is valid as it was sent, but not once it is merged. */
export function throwInvalid(errors: readonly ErrorObject[] | null | undefined): void {
  const violations = new Violations();
  for (const { keyword, instancePath, params } of errors ?? []) {
    if (keyword !== 'maxProperties') continue;
    const field = instancePath.slice(1).replaceAll('/', '.');
    violations.add(
      field,
      `must have at most ${params['limit']} entries after the change. Remove some by setting them to null.`,
    );
  }
  const others = (errors ?? []).filter(({ keyword }) => keyword !== 'maxProperties');
  const bodyErrors = others.map((error) => ({ ...error, instancePath: `/requestBody${error.instancePath}` }));
  violations.addAll(bodyErrors, { queryNames: [], headerNames: new Map() });
  violations.throwIfAny();
}
