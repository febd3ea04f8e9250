// The bundled contract as the documentation reads it.
import { readFile } from 'node:fs/promises';

export type Json = { readonly [name: string]: unknown };
export type Example = { readonly summary?: string; readonly value: unknown };
export type Examples = Readonly<Record<string, Example>>;

/** A JSON Schema. One that stands in the contract under a name is a `$ref`, so that it can be linked to. */
export type Schema = {
  readonly $ref?: string;
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
  readonly requestBody?: { readonly description: string; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
};
export type Tag = { readonly name: string; readonly description: string };

export type Contract = {
  /** As it was read, for whoever shows it whole. */
  readonly document: Json;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
  };
  readonly tags: readonly Tag[];
  /** In the contract's order. */
  readonly operations: readonly Operation[];
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
};

/** What else a path may hold, such as a description, is no operation. */
const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);
const SCHEMAS = '#/components/schemas/';

export async function readContract(file: string): Promise<Contract> {
  return contractOf(JSON.parse(await readFile(file, 'utf8')));
}

export function contractOf(document: Json): Contract {
  // Not proven here: the shape is what `redocly lint` has held the document against.
  const { info, tags, paths, components } = follow(document, document) as Resolved;
  return {
    ...{ document, info, tags, schemas: components.schemas, securitySchemes: components.securitySchemes },
    operations: Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, operation]) =>
        METHODS.has(method) ? [{ ...operation, path, method }] : [],
      ),
    ),
  };
}

type Resolved = Pick<Contract, 'info' | 'tags'> & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Pick<Contract, 'schemas' | 'securitySchemes'>;
};

/** Every reference followed, but for those to a schema. */
function follow(value: unknown, document: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => follow(item, document));
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value && typeof value.$ref === 'string' && !value.$ref.startsWith(SCHEMAS))
    return follow(at(value.$ref, document), document);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, follow(member, document)]));
}

function at(ref: string, document: Json): unknown {
  const names = ref
    .slice(2)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce<unknown>((value, name) => Object(value)[name], document);
}

/** "ParentProgram" of a reference to that schema; undefined of any other schema. */
export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.slice(SCHEMAS.length);
}

/** The one success that an operation shows. */
export function successOf({ operationId, responses }: Operation): { status: number; response: Response } {
  const [shown] = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  if (shown === undefined) throw new Error(`${operationId} shows no success.`);
  return { status: Number(shown[0]), response: shown[1] };
}

/** The first example: the one that the contract shows before the others. */
export function firstOf(examples: Examples): unknown {
  return Object.values(examples)[0]?.value;
}
