// Reads an OpenAPI document: its operations, its named schemas, its references and its examples. It needs no server.

export type Json = Record<string, unknown>;
export type Example = { readonly summary?: string; readonly value: unknown };
export type Examples = Readonly<Record<string, Example>>;

/** A JSON Schema; the keywords listed here are the ones that readers use by name. */
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
/** By media type. */
export type Content = Readonly<Record<string, { readonly schema: Schema; readonly examples: Examples }>>;
export type Response = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
};
export type Operation = {
  readonly operationId: string;
  readonly path: string;
  /** In lower case. */
  readonly method: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly description: string;
    readonly content: Content;
    /** The largest body, if it is not 100 KiB. */
    readonly 'x-max-bytes'?: number;
  };
  /** By status. */
  readonly responses: Readonly<Record<string, Response>>;
};

/** A message that the server sends: the client receives the request, and responds. */
export type Webhook = Omit<Operation, 'path'> & {
  /** Such as "parent_program.created". */
  readonly name: string;
};

/** The members of a path item that are operations. */
export const METHODS: readonly string[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const SCHEMAS = '#/components/schemas/';

/** With `keepNamedSchemas`, references to `components.schemas` stay references, which `schemaNameOf` reads. */
export type Following = { readonly keepNamedSchemas: boolean };

/** Every operation that clients call, in the document's order, with its references followed. */
export function operationsOf(document: Json, following?: Following): Operation[] {
  return itemsOf<Operation>(document, 'paths', following).map(({ key, method, item }) => ({
    ...item,
    path: key,
    method,
  }));
}

/** Every webhook, likewise. */
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
 * The value with every reference in it followed. Throws where a schema contains itself; only `keepNamedSchemas` can
 * read such a schema.
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
  // The linter has checked that the document holds at each place what OpenAPI asks for there.
  return follow(value, []) as T;
}

/**
 * What a reference leads to, through further references if need be, and the first reference; null where the value is
 * no reference. Members beside `$ref` replace the target's own.
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

/** The names in a reference within the document: a JSON pointer as a URI fragment (RFC 6901 section 6). */
export function namesIn(reference: string): string[] {
  return reference
    .replace(/^#\/?/, '')
    .split('/')
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** "ParentProgram" for a reference to that schema; undefined for everything else. */
export function schemaNameOf({ $ref }: Json): string | undefined {
  return typeof $ref === 'string' && $ref.startsWith(SCHEMAS) ? $ref.slice(SCHEMAS.length) : undefined;
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The statuses of an operation's success, the lowest first. */
export function successesOf({ responses }: Operation): number[] {
  return Object.keys(responses)
    .map(Number)
    .filter((status) => status >= 200 && status < 300);
}

/** The status of an operation's success: the lowest 2xx that it declares. */
export function successOf(operation: Operation): number {
  const [success] = successesOf(operation);
  if (success === undefined) throw new Error(`${operation.operationId} declares no success.`);
  return success;
}

/** The value of the first example. */
export function firstExample(examples: Examples): unknown {
  return Object.values(examples)[0]?.value;
}

export function lastExample(examples: Examples): unknown {
  return Object.values(examples).at(-1)?.value;
}

/** The segments of a request's path, decoded, so that they can be compared (RFC 3986 section 6.2.2.2). */
export function segmentsOf(path: string): string[] {
  return path.split('/').map((segment) => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment;
    }
  });
}

/** Whether a path matches a template; both are given by their segments. */
export function isOfTemplate(template: readonly string[], path: readonly string[]): boolean {
  return (
    template.length === path.length &&
    template.every((segment, i) => (segment.startsWith('{') ? path[i] !== '' : path[i] === segment))
  );
}

/** Sorts the templates that a path matches. The path belongs to the first: the one whose literal segment stands first. */
export function compareTemplates(a: readonly string[], b: readonly string[]): number {
  const isParameter = (segment: string | undefined) => segment?.startsWith('{') === true;
  const at = a.findIndex((segment, i) => isParameter(segment) !== isParameter(b[i]));
  if (at < 0) return 0;
  return isParameter(a[at]) ? 1 : -1;
}
