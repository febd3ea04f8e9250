import type { Method } from '../client/contract.ts';
import {
  isObject,
  type Json,
  type Operation,
  operationsOf,
  type Parameter,
  successesOf,
  sufficientPermissionsOf,
} from '../contract/document.ts';

/** An operation of the contract, as a tool of the Model Context Protocol. */
export type Tool = {
  readonly method: Method;
  readonly path: string;
  /** The parameters that are arguments of the tool. A body is the argument `body`. */
  readonly parameters: readonly Parameter[];
  /** The permissions that allow the operation: a key needs at least one. Empty if every key may call the operation. */
  readonly permissions: readonly string[];
  /** The tool as `tools/list` describes it. */
  readonly definition: Definition;
};

type Definition = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: Readonly<Record<string, boolean>>;
};

type ObjectSchema = {
  readonly type: 'object';
  readonly properties: Record<string, Json>;
  readonly required: string[];
  readonly additionalProperties?: false;
};

/** Returns a tool for each operation, in the order of the contract. */
export function toolsOf(document: Json): Tool[] {
  const operations = operationsOf(document);
  const conditional = new Set(operations.filter((each) => hasParameter(each, 'If-Match')).map(({ path }) => path));
  return operations.flatMap((operation) => {
    const { method, path } = operation;
    const hasEtag = method !== 'get' || conditional.has(path);
    return isMethod(method) ? [toolOf(operation, { method, hasEtag })] : [];
  });
}

function isMethod(method: string): method is Method {
  return ['get', 'post', 'put', 'patch', 'delete'].includes(method);
}

function hasParameter({ parameters = [] }: Operation, name: string): boolean {
  return parameters.some((parameter) => parameter.name === name);
}

/**
 * Returns the tool for an operation. `hasEtag` is whether the result contains an entity tag, which another operation takes as
 * `If-Match`.
 */
function toolOf(operation: Operation, { method, hasEtag }: { method: Method; hasEtag: boolean }): Tool {
  const { operationId, summary, path, parameters = [] } = operation;
  // If-None-Match is left out, because MCP clients keep no earlier response that a 304 could confirm.
  const omitted = parameters.filter(({ name }) => method === 'get' && name === 'If-None-Match');
  const taken = parameters.filter((parameter) => !omitted.includes(parameter));
  return {
    method,
    path,
    parameters: taken,
    permissions: sufficientPermissionsOf(operation),
    definition: {
      name: operationId,
      title: summary,
      description: descriptionOf(operation, omitted),
      inputSchema: inputSchemaOf(operation, taken),
      outputSchema: outputSchemaOf(operation, hasEtag),
      annotations: {
        readOnlyHint: method === 'get',
        // A POST that creates nothing, such as a batch, may change or delete data.
        destructiveHint: method !== 'get' && !(method === 'post' && successesOf(operation).includes(201)),
        idempotentHint: ['get', 'put', 'delete'].includes(method),
        openWorldHint: false,
      },
    },
  };
}

/** Returns the description without the paragraphs about parameters that the tool does not have. */
function descriptionOf({ description }: Operation, omitted: readonly Parameter[]): string {
  const paragraphs = description.split(/\n\n+/);
  return paragraphs.filter((each) => !omitted.some(({ name }) => each.includes(`\`${name}\``))).join('\n\n');
}

function inputSchemaOf({ requestBody }: Operation, parameters: readonly Parameter[]): ObjectSchema {
  const body = requestBody?.content['application/json']?.schema;
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(parameters.map((parameter) => [parameter.name, argumentOf(parameter)])),
      ...(body !== undefined && { body: plainSchemaOf(body) }),
    },
    required: [
      ...parameters.filter(({ required }) => required === true).map(({ name }) => name),
      ...(body === undefined ? [] : ['body']),
    ],
    additionalProperties: false,
  };
}

function argumentOf({ description, schema }: Parameter): Json {
  const isEncoded = /\bencode/i.test(description);
  return {
    ...plainSchemaOf(schema),
    description: `${description}${isEncoded ? '\n\nGive the value as it is: this tool encodes it.' : ''}`,
  };
}

/** Returns the schema of the result: `{ status, etag, body }`, as in the results of a batch. */
function outputSchemaOf(operation: Operation, hasEtag: boolean): ObjectSchema {
  const statuses = successesOf(operation);
  const responses = statuses.map((status) => operation.responses[status]);
  const body = responses.map((response) => response?.content?.['application/json']?.schema).find(Boolean);
  const etag = responses.map((response) => response?.headers?.['ETag']).find(Boolean);
  return {
    type: 'object',
    properties: {
      status: { type: 'integer', enum: statuses },
      ...(hasEtag && etag !== undefined && { etag: { type: 'string', description: etag.description } }),
      ...(body !== undefined && { body: plainSchemaOf(openSchemaOf(body)) }),
    },
    required: ['status', ...(body === undefined ? [] : ['body'])],
  };
}

/**
 * Returns the schema without restrictions that a later version of the contract may relax. MCP clients refuse a result that the
 * schema does not allow.
 */
function openSchemaOf(schema: Json): Json {
  return mapSchemas(schema, ({ maxItems: _, ...each }) => {
    const { enum: values, ...open } = each;
    return each['x-extensible'] === true ? open : each;
  });
}

/** Returns the schema without the keywords that only OpenAPI has. */
function plainSchemaOf(schema: Json): Json {
  return mapSchemas(schema, (each) =>
    Object.fromEntries(Object.entries(each).filter(([name]) => name !== 'discriminator' && !name.startsWith('x-'))),
  );
}

/** Returns a copy of the schema. `change` is applied to the schema and to all schemas in it. */
function mapSchemas(schema: Json, change: (schema: Json) => Json): Json {
  const map = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(map);
    return isObject(value) ? mapSchemas(value, change) : value;
  };
  const members = Object.entries(change(schema)).map(([keyword, value]) => {
    if (HOLDS_VALUES.has(keyword)) return [keyword, value];
    if (keyword !== 'properties' || !isObject(value)) return [keyword, map(value)];
    return [keyword, Object.fromEntries(Object.entries(value).map(([name, property]) => [name, map(property)]))];
  });
  return Object.fromEntries(members);
}

/** The keywords whose values are data, not schemas. */
const HOLDS_VALUES = new Set(['const', 'default', 'enum', 'examples']);
