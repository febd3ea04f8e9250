import type { ErrorObject } from 'ajv';
import type { Json, Operation } from '../../src/api/document.ts';
import { Violations } from '../../src/api/violations.ts';
import { idOf } from './collection.ts';
import { emptyOf, merge, namesIn, schemaOfMember } from './json-schema.ts';

type Write = { readonly operation: Operation; readonly sent: Json; readonly schema: Json };

/** The example with what was sent, and with nothing where nothing was sent. */
export function created(example: Json, { operation, sent, schema }: Write): Json {
  const empty = namesIn(operation.requestBody?.content['application/json']?.schema).flatMap((name) => {
    const value = emptyOf(schemaOfMember(schema, name));
    return value === undefined ? [] : [[name, value] as const];
  });
  const body = merge({ ...example, ...Object.fromEntries(empty) }, sent, schema);
  // The same for the same body, so that a request that is sent again gets the same answer.
  return 'id' in body ? { ...body, id: idOf(`${operation.path} ${JSON.stringify(sent)}`) } : body;
}

/** A change that changes nothing leaves no trace, as the contract says. */
export function updated(current: Json, { sent, schema }: Write): Json {
  const body = merge(current, sent, schema);
  const updatedAt = current['updated_at'];
  if (typeof updatedAt !== 'string' || JSON.stringify(body) === JSON.stringify(current)) return body;
  return { ...body, updated_at: new Date(Date.parse(updatedAt) + 1000).toISOString() };
}

/** What was sent may be allowed by itself, and too much together with what is there. */
export function refuseInvalid(errors: readonly ErrorObject[] | null | undefined): void {
  const violations = new Violations();
  const ofTheBody = (errors ?? []).map((error) => ({ ...error, instancePath: `/requestBody${error.instancePath}` }));
  violations.addAll(ofTheBody, { queryNames: [], headerNames: new Map() });
  violations.throwIfAny();
}
