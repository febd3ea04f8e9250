import type { Operation } from 'openapi-backend';
import type { QueryParameter } from './request-query.ts';

/** An operation as openapi-backend has it, with what every request needs to know of it, worked out once at the start. */
export type ContractOperation = Operation & {
  readonly operationId: string;
  /** The permission that the key needs; `undefined` if it needs none. */
  readonly permission: string | undefined;
  readonly pathNames: readonly string[];
  readonly queryParameters: ReadonlyMap<string, QueryParameter>;
  readonly queryNames: readonly string[];
  /** Header names as the contract spells them, by their lower-case form. */
  readonly headerNames: ReadonlyMap<string, string>;
  readonly hasBody: boolean;
  /** The media types of the body, in the contract's order. */
  readonly mediaTypes: readonly string[];
  /** The largest body, from "x-max-bytes". */
  readonly maxBodyBytes: number;
  /** The array in the body whose items count as requests, marked with "x-counts-as-requests". */
  readonly countedField: string | undefined;
  /** The contract shows an ETag on the success. */
  readonly hasEntityTag: boolean;
  /** The contract shows a 304. */
  readonly isConditional: boolean;
  /**
   * Its responses may be kept in the response cache, if its handler returns their version. An operation without a permission
   * shows the key itself, and a header other than If-None-Match could change the response.
   */
  readonly isCacheable: boolean;
};

/** 100 KiB. */
export const MAX_REQUEST_BODY_BYTES = 100 * 1024;

/** `permissions` are those that a key can have; any other in the contract is refused. */
export function describeOperation(operation: Operation, permissions: readonly string[]): ContractOperation {
  const { operationId = '', responses = {} } = operation;
  const [query, headers] = [parametersIn(operation, 'query'), parametersIn(operation, 'header')];
  const permission = permissionOf(operation, permissions);
  const { content = {}, 'x-max-bytes': maxBodyBytes = MAX_REQUEST_BODY_BYTES } = Object(operation.requestBody);
  const success = responses['200'] ?? responses['201'] ?? {};
  return {
    ...operation,
    operationId,
    permission,
    pathNames: [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name),
    queryParameters: new Map(query.map(({ name, ...read }) => [name, read])),
    queryNames: query.map(({ name }) => name),
    headerNames: new Map(headers.map(({ name }) => [name.toLowerCase(), name])),
    hasBody: operation.requestBody !== undefined,
    mediaTypes: Object.keys(content),
    maxBodyBytes,
    countedField: countedFieldOf(Object(content['application/json'] ?? {}).schema),
    hasEntityTag: 'headers' in success && Object.hasOwn(success.headers ?? {}, 'ETag'),
    isConditional: responses['304'] !== undefined,
    isCacheable:
      responses['304'] !== undefined &&
      permission !== undefined &&
      headers.every(({ name }) => name === 'If-None-Match'),
  };
}

function countedFieldOf(schema: unknown): string | undefined {
  const properties = Object.entries<object>(Object(schema).properties ?? {});
  return properties.find(([, property]) => 'x-counts-as-requests' in property)?.[0];
}

/** The name of the contract's one security scheme. */
export const SECURITY_SCHEME = 'apiKey';

/** Throws for anything but the one scheme with at most one known permission: nothing else is enforced. */
function permissionOf(operation: Operation, permissions: readonly string[]): string | undefined {
  const [requirement = {}, ...alternatives] = operation.security ?? [];
  const [[scheme = '', scopes = []] = [], ...otherSchemes] = Object.entries<string[]>(requirement);
  const [permission, ...otherScopes] = scopes;
  const isKnown = permission === undefined ? operation.method === 'get' : permissions.includes(permission);
  if (scheme !== SECURITY_SCHEME || !isKnown || alternatives.length + otherSchemes.length + otherScopes.length > 0) {
    throw new Error(`The security of ${operation.operationId} cannot be served: ${JSON.stringify(operation.security)}`);
  }
  return permission;
}

function parametersIn(
  { parameters = [] }: Operation,
  location: 'query' | 'header',
): (QueryParameter & { name: string })[] {
  return parameters.flatMap((parameter) => {
    if (!('in' in parameter) || parameter.in !== location) return [];
    const { type = '', 'x-normal-form': normalForm } = Object(parameter.schema);
    return [{ name: parameter.name, type: String(type), normalForm }];
  });
}
