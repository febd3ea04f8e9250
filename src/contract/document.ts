// Reads an OpenAPI document: its operations, named schemas, references and examples. This module needs no running server.

export type Json = Record<string, unknown>;
export type Example = { readonly summary?: string; readonly value: unknown };
export type Examples = Readonly<Record<string, Example>>;

/** A JSON Schema. The listed members are the keywords that the code uses. */
export type Schema = Json & {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
};

export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly examples: Examples;
};
export type Header = {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly examples: Examples;
};
/** The content of a request or response, by media type. */
export type Content = Readonly<Record<string, { readonly schema: Schema; readonly examples: Examples }>>;
export type Response = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
};
export type Operation = {
  readonly operationId: string;
  readonly path: string;
  /** The HTTP method, in lower case. */
  readonly method: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly description: string;
    readonly content: Content;
    /** The maximum size of the request's body, in bytes. Default: 100 KiB. */
    readonly 'x-max-bytes'?: number;
  };
  readonly responses: Readonly<Record<string, Response>>;
};

/** A request that the server sends to a client's URL. */
export type Webhook = Omit<Operation, 'path'> & {
  /** The name of the webhook, such as "parent_program.created". */
  readonly name: string;
};

/** The names of a path item's members that are operations. */
export const METHODS: readonly string[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const SCHEMAS = '#/components/schemas/';

/**
 * How references are resolved. With `keepNamedSchemas`, references to `components.schemas` are kept, and `schemaNameOf` returns
 * the names of their schemas.
 */
export type Following = { readonly keepNamedSchemas: boolean };

/** Returns all operations that clients call, in the order of the document, with resolved references. */
export function operationsOf(document: Json, following?: Following): Operation[] {
  return itemsOf<Operation>(document, 'paths', following).map(({ key, method, item }) => ({
    ...item,
    path: key,
    method,
  }));
}

/** Returns the permissions that allow the operation: a key needs at least one. Empty if every key may call the operation. */
export function sufficientPermissionsOf({ security }: Pick<Operation, 'security'>): string[] {
  return security.flatMap((requirement) => Object.values(requirement).flat());
}

/** Returns all webhooks, in the order of the document, with resolved references. */
export function webhooksOf(document: Json, following?: Following): Webhook[] {
  return itemsOf<Webhook>(document, 'webhooks', following).map(({ key, method, item }) => ({
    ...item,
    name: key,
    method,
  }));
}

function itemsOf<T>(
  document: Json,
  section: 'paths' | 'webhooks',
  following?: Following,
): { readonly key: string; readonly method: string; readonly item: T }[] {
  const items = resolve<Record<string, Record<string, T>>>(document, document[section] ?? {}, following);
  return Object.entries(items).flatMap(([key, methods]) =>
    Object.entries(methods).flatMap(([method, item]) => (METHODS.includes(method) ? [{ key, method, item }] : [])),
  );
}

/**
 * Returns the value with all references in it resolved. Throws if a schema contains itself; such a schema can be read only with
 * `keepNamedSchemas`.
 */
export function resolve<T>(document: Json, value: unknown, following: Following = { keepNamedSchemas: false }): T {
  const follow = (part: unknown, within: readonly string[]): unknown => {
    if (Array.isArray(part)) return part.map((item) => follow(item, within));
    if (!isObject(part)) return part;
    if (following.keepNamedSchemas && schemaNameOf(part) !== undefined) return part;
    const { target, reference } = followReference(document, part);
    if (reference !== null && within.includes(reference)) throw new Error(`${reference} contains itself.`);
    const inside = reference === null ? within : [...within, reference];
    return Object.fromEntries(Object.entries(target).map(([name, member]) => [name, follow(member, inside)]));
  };
  // The type assertion is safe, because the linter has checked that each part of the document has the form that OpenAPI requires.
  return follow(value, []) as T;
}

/**
 * Follows a reference, which may lead to further references. Returns the value at its end and the first reference; `reference` is
 * `null` if the given value is not a reference. Members beside a `$ref` override those of its target.
 */
export function followReference(document: Json, value: Json): { target: Json; reference: string | null } {
  const followed = new Set<string>();
  let target = value;
  while (typeof target['$ref'] === 'string') {
    const { $ref, ...beside } = target;
    const reference = String($ref);
    if (followed.has(reference)) throw new Error(`The reference ${reference} leads back to itself.`);
    followed.add(reference);
    const found = getTarget(document, reference);
    target = Object.keys(beside).length === 0 ? found : { ...found, ...beside };
  }
  const [reference = null] = followed;
  return { target, reference };
}

function getTarget(document: Json, reference: string): Json {
  const target = namesIn(reference).reduce<unknown>(
    (value, name) => (Object.hasOwn(Object(value), name) ? Object(value)[name] : undefined),
    document,
  );
  if (!isObject(target)) throw new Error(`The document has nothing at ${reference}.`);
  return target;
}

/**
 * Returns the names in a reference such as "#/components/schemas/Event", which is a JSON Pointer in a URI fragment (RFC 6901
 * section 6).
 */
export function namesIn(reference: string): string[] {
  return reference
    .replace(/^#\/?/, '')
    .split('/')
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * Returns the name of the schema to which a reference leads, such as "ParentProgram"; `undefined` if the value is not such a
 * reference.
 */
export function schemaNameOf({ $ref }: Json): string | undefined {
  return typeof $ref === 'string' && $ref.startsWith(SCHEMAS) ? $ref.slice(SCHEMAS.length) : undefined;
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the statuses of an operation's successful responses in ascending order. */
export function successesOf({ responses }: Operation): number[] {
  return Object.keys(responses)
    .map(Number)
    .filter((status) => status >= 200 && status < 300);
}

/** Returns the lowest 2xx status of an operation. Throws if there is no 2xx status. */
export function successOf(operation: Operation): number {
  const [success] = successesOf(operation);
  if (success === undefined) throw new Error(`${operation.operationId} declares no success.`);
  return success;
}

/** Returns the value of the first example; `undefined` if there are no examples. */
export function firstExample(examples: Examples): unknown {
  return Object.values(examples)[0]?.value;
}

export function lastExample(examples: Examples): unknown {
  return Object.values(examples).at(-1)?.value;
}

/**
 * Returns the percent-decoded segments of a request's path, because equivalent paths can be encoded differently (RFC 3986 section
 * 6.2.2.2).
 */
export function segmentsOf(path: string): string[] {
  return path.split('/').map((segment) => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment;
    }
  });
}

/** Returns whether a path matches a template, both given as segments. */
export function isOfTemplate(template: readonly string[], path: readonly string[]): boolean {
  return (
    template.length === path.length &&
    template.every((segment, i) => (segment.startsWith('{') ? path[i] !== '' : path[i] === segment))
  );
}

/**
 * Compares two templates that match the same path, for sorting. The template whose literal segment comes earlier is sorted first,
 * and the path belongs to it.
 */
export function compareTemplates(a: readonly string[], b: readonly string[]): number {
  const isParameter = (segment: string | undefined) => segment?.startsWith('{') === true;
  const at = a.findIndex((segment, i) => isParameter(segment) !== isParameter(b[i]));
  if (at < 0) return 0;
  return isParameter(a[at]) ? 1 : -1;
}
