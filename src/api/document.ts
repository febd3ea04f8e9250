// The document as a reader has it, without a word of how it is served.

export type Json = Record<string, unknown>;
export type Example = { value: unknown };
export type Header = { required?: boolean; schema: Json; examples?: Record<string, Example> };
export type Content = { schema: Json; examples?: Record<string, Example> };
export type Response = { headers?: Record<string, Header>; content?: Record<string, Content> };
export type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  schema: Json;
  examples: Record<string, Example>;
};
export type Operation = {
  operationId: string;
  path: string;
  method: string;
  responses: Record<string, Response>;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Json; examples: Record<string, Example> }> };
  security: Record<string, string[]>[];
};

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** Every operation, in the document's order, with every reference followed. */
export function operationsOf(document: Json): Operation[] {
  return Object.entries(resolve<Record<string, Record<string, Operation>>>(document, document['paths'])).flatMap(
    ([path, item]) =>
      METHODS.flatMap((method) => (item[method] === undefined ? [] : [{ ...item[method], path, method }])),
  );
}

/** With every $ref followed; schemas that contain themselves, of which the contract has none, would not end. */
export function resolve<T>(document: Json, value: unknown): T {
  // What the linted document holds at a place is what OpenAPI says stands there.
  return follow(document, value) as T;
}

/** Of a path as it was called, decoded, so that they can be compared (RFC 3986 section 6.2.2.2). */
export function segmentsOf(path: string): string[] {
  return path.split('/').map((segment) => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment;
    }
  });
}

/** Whether a path is of a template; of both, the segments. */
export function isOfTemplate(template: readonly string[], path: readonly string[]): boolean {
  return (
    template.length === path.length &&
    template.every((segment, i) => (segment.startsWith('{') ? path[i] !== '' : path[i] === segment))
  );
}

function follow(document: Json, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => follow(document, item));
  if (value === null || typeof value !== 'object') return value;
  if ('$ref' in value && typeof value.$ref === 'string') return follow(document, at(document, value.$ref));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, follow(document, member)]));
}

function at(document: Json, ref: string): unknown {
  let value: unknown = document;
  for (const part of ref.slice(2).split('/')) value = Object(value)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  if (value === undefined) throw new Error(`The contract has no ${ref}.`);
  return value;
}
