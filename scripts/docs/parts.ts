// The parts of an operation that have anchors on its page: parameters, fields, headers, statuses and examples.
import { STATUS_CODES } from 'node:http';
import {
  type Examples,
  firstExample,
  type Operation,
  type Response,
  type Schema,
  schemaNameOf,
  type Webhook,
} from '../../src/contract/document.ts';
import type { Contract } from './contract.ts';

export type Part = {
  readonly kind: 'parameter' | 'field' | 'header' | 'status' | 'example';
  /** The name as clients write it, such as "limit", "data.name", "ETag" or "422". For an example, its name in the contract. */
  readonly name: string;
  /** The id of the part on the page of the operation. */
  readonly anchor: string;
  /** The title for readers, such as "limit (query parameter)". */
  readonly title: string;
  /** The description as Markdown. */
  readonly description: string;
};

/** A parameter or a field, with its inner fields. */
export type Field = Part & {
  /** The last part of the name. */
  readonly label: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  /** The first example; `undefined` if there is no example. */
  readonly example: unknown;
  readonly fields: readonly Field[];
};

export type ExamplePart = Part & { readonly kind: 'example'; readonly value: unknown };

/** Returns all parts of the operation in the order of its page. Each part has a different anchor. */
export function partsOf(operation: Operation | Webhook, schemas: Contract['schemas']): Part[] {
  const body = operation.requestBody?.content['application/json'];
  const result = successOf(operation);
  const withFields = (fields: readonly Field[]): Field[] =>
    fields.flatMap((each) => [each, ...withFields(each.fields)]);
  return [
    ...parametersOf(operation),
    ...withFields(bodyFieldsOf(operation, schemas)),
    ...(body === undefined ? [] : examplesOf('body', 'request body', body.examples)),
    ...statusesOf(operation).flatMap(([status, response]) => [
      statusPartOf(status, response),
      ...(result?.status === status ? withFields(responseFieldsOf(operation, schemas)) : []),
      ...examplesOf(status, status, response.content?.['application/json']?.examples ?? {}),
    ]),
    ...responseHeadersOf(operation),
  ];
}

export function parametersOf({ parameters = [] }: Operation | Webhook): Field[] {
  return parameters.map(({ name, in: location, description, required = false, schema, examples }) => ({
    kind: location === 'header' ? 'header' : 'parameter',
    name,
    label: name,
    anchor: `${location}-${name.toLowerCase()}`,
    title: `${name} (${location === 'header' ? 'request header' : `${location} parameter`})`,
    description,
    schema,
    isRequired: required,
    example: firstExample(examples),
    fields: [],
  }));
}

export function bodyFieldsOf({ requestBody }: Operation | Webhook, schemas: Contract['schemas']): Field[] {
  const body = requestBody?.content['application/json'];
  return body === undefined ? [] : fieldsOf(body.schema, { schemas, place: 'request body', anchor: 'body', path: [] });
}

/** Returns the fields of the first 2xx response that has a body. */
export function responseFieldsOf(operation: Operation | Webhook, schemas: Contract['schemas']): Field[] {
  const schema = successOf(operation)?.response.content?.['application/json']?.schema;
  return schema === undefined ? [] : fieldsOf(schema, { schemas, place: 'response', anchor: 'response', path: [] });
}

/** Returns the first 2xx response that has a body; `undefined` if there is none. */
export function successOf(operation: Operation | Webhook): { status: string; response: Response } | undefined {
  const found = statusesOf(operation).find(
    ([status, { content }]) => status.startsWith('2') && content?.['application/json'] !== undefined,
  );
  return found && { status: found[0], response: found[1] };
}

/** Returns the responses sorted by status. As an integer key, "410" would otherwise precede "2XX". */
export function statusesOf({ responses }: Operation | Webhook): [string, Response][] {
  return Object.entries(responses).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Returns the error statuses that have the same meaning in all operations. */
export function sharedStatusesOf({ operations }: Pick<Contract, 'operations'>): Set<string> {
  const all = operations.flatMap((each) =>
    statusesOf(each).map(([status, { description, content }]) => ({
      status,
      meaning: JSON.stringify([description, content]),
    })),
  );
  const groups = [...Map.groupBy(all, ({ status }) => status)];
  return new Set(
    groups
      .filter(([status, found]) => Number(status) >= 400 && found.length === operations.length)
      .filter(([, found]) => new Set(found.map(({ meaning }) => meaning)).size === 1)
      .map(([status]) => status),
  );
}

export function statusPartOf(status: string, { description }: Response): Part {
  const title = `${status} ${STATUS_CODES[Number(status)] ?? ''}`.trim();
  return { kind: 'status', name: status, anchor: `status-${status.toLowerCase()}`, title, description };
}

/** Returns the examples of a body. `place` is "body" for a request; for a response, it is the status. */
export function examplesOf(place: string, where: string, examples: Examples): ExamplePart[] {
  return Object.entries(examples).map(([name, { summary = name, value }]) => ({
    kind: 'example',
    name,
    anchor: `example-${place.toLowerCase()}-${name}`,
    title: `${summary} (example of ${where})`,
    description: summary,
    value,
  }));
}

/** A response header, with the statuses of the responses that have it. */
export type ResponseHeader = Part & { readonly statuses: readonly string[] };

/** Returns the headers of all responses. Each occurs once, with the description in the first response that has the header. */
export function responseHeadersOf(operation: Operation | Webhook): ResponseHeader[] {
  const all = statusesOf(operation).flatMap(([status, { headers = {} }]) =>
    Object.entries(headers).map(([name, { description }]) => ({ status, name, description })),
  );
  return [...Map.groupBy(all, ({ name }) => name)].map(([name, found]) => ({
    kind: 'header',
    name,
    anchor: `response-header-${name.toLowerCase()}`,
    title: `${name} (response header)`,
    description: found[0]?.description ?? '',
    statuses: found.map(({ status }) => status),
  }));
}

type Within = {
  readonly schemas: Contract['schemas'];
  readonly place: string;
  readonly anchor: string;
  /** The names of the fields that contain these fields, from the outermost to the innermost. */
  readonly path: readonly string[];
};

/**
 * Returns the fields of an object, of the items of an array, or of all alternatives of a schema. Of several fields with the same
 * name, returns only the first.
 */
function fieldsOf(schema: Schema, within: Within, seen: readonly string[] = []): Field[] {
  const name = schemaNameOf(schema);
  if (name !== undefined) {
    const named = within.schemas[name];
    return named === undefined || seen.includes(name) ? [] : fieldsOf(named, within, [...seen, name]);
  }
  const { properties = {}, required = [], items, oneOf = [], anyOf = [] } = schema;
  const own = Object.entries(properties).map(([label, each]): Field => {
    const path = [...within.path, label];
    const anchor = `${within.anchor}-${label}`;
    const target = within.schemas[schemaNameOf(each) ?? ''] ?? each;
    return {
      kind: 'field',
      name: path.join('.'),
      label,
      anchor,
      title: `${path.join('.')} (field of the ${within.place})`,
      description: each.description ?? target.description ?? '',
      schema: each,
      isRequired: required.includes(label),
      example: target.examples?.[0],
      fields: fieldsOf(each, { ...within, anchor, path }, seen),
    };
  });
  const others = [...(items === undefined ? [] : [items]), ...oneOf, ...anyOf].flatMap((each) =>
    fieldsOf(each, within, seen),
  );
  return [...Map.groupBy([...own, ...others], ({ label }) => label).values()].flatMap(([first]) => first ?? []);
}
