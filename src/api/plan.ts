import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ValidateFunction } from 'ajv';
import type { Operation } from 'openapi-backend';
import type { Caller } from '../domain/caller.ts';
import type { Contract } from './contract.ts';
import type { OperationId } from './operation.ts';
import type { ParameterTypes } from './request-input.ts';
import { Routes } from './routes.ts';
import type { Vocabulary } from './violations.ts';

// What openapi-backend would look up in the contract on every request, made ready once, at the start.

/** Their answers depend on the organization's data and the address alone: on no key, on no time, on no header. */
const KEPT: ReadonlySet<string> = new Set<OperationId>(['listParentPrograms', 'getParentProgram']);

/** Who a request acts for; the server's own is a Caller. */
export type Acting = { readonly permissions: readonly string[] };

export type Plan<By extends Acting = Caller> = {
  readonly operationId: string;
  /** Undefined: any key will do. */
  readonly permission: string | undefined;
  readonly authenticate: Authenticate<By>;
  readonly pathNames: readonly string[];
  readonly queryTypes: ParameterTypes;
  readonly hasBody: boolean;
  /** The contract shows an ETag on the success. */
  readonly hasEntityTag: boolean;
  /** The contract shows a 304. */
  readonly isConditional: boolean;
  /** Its answers may be kept in memory. */
  readonly isKept: boolean;
  readonly validators: readonly ValidateFunction[];
  readonly vocabulary: Vocabulary;
  readonly handle: Handle<By>;
};

/** What was sent, validated. */
export type Received<By extends Acting = Caller> = {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  /** Undefined: there is none. */
  readonly body: unknown;
  readonly caller: By;
};

/** From the input to the answer; refusals are thrown. */
export type Handle<By extends Acting = Caller> = (input: Received<By>) => Promise<Answer>;

/** What a handler returns. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Null: the answer has none. */
  readonly body: unknown;
  /** Undefined: one is made of the body's bytes, where the contract shows one. */
  readonly entityTag?: string;
  /** The organization's, of the very data that it shows; without, it is not kept in memory. */
  readonly version?: string | undefined;
};

export type Authenticate<By extends Acting = Caller> = (req: IncomingMessage) => Promise<By>;

/** A path's operations by method, and the same for the Allow header. */
export type Methods<By extends Acting = Caller> = { readonly byName: Map<string, Plan<By>>; allow: string };

export type Served<By extends Acting = Caller> = {
  readonly contract: Contract;
  /** By operationId; undefined: there is none. */
  readonly handle: (operationId: string) => Handle<By> | undefined;
  /** Those that a key can have. */
  readonly permissions: readonly string[];
  /** By the name of the contract's security scheme. */
  readonly security: Readonly<Record<string, Authenticate<By>>>;
};

export function planRoutes<By extends Acting>(served: Served<By>): Routes<Methods<By>> {
  const routes = new Routes<Methods<By>>();
  for (const operation of served.contract.router.getOperations()) {
    const methods = routes.at(operation.path, () => ({ byName: new Map(), allow: '' }));
    const plan = planOperation(operation, served);
    methods.byName.set(operation.method.toUpperCase(), plan);
    // RFC 9110 section 9.3.2: HEAD is GET without the content.
    if (operation.method === 'get') methods.byName.set('HEAD', plan);
    methods.allow = [...methods.byName.keys()].join(', ');
  }
  return routes;
}

function planOperation<By extends Acting>(operation: Operation, served: Served<By>): Plan<By> {
  const { operationId = '', responses = {} } = operation;
  const handle = served.handle(operationId);
  if (handle === undefined) throw new Error(`The operation ${operationId} of the contract has no handler.`);
  const [query, headers] = [parametersIn(operation, 'query'), parametersIn(operation, 'header')];
  const success = responses['200'] ?? responses['201'] ?? {};
  return {
    operationId,
    ...planSecurity(operation, served),
    pathNames: [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name),
    queryTypes: new Map(query.map(({ name, type }) => [name, type])),
    hasBody: operation.requestBody !== undefined,
    hasEntityTag: 'headers' in success && Object.hasOwn(success.headers ?? {}, 'ETag'),
    isConditional: responses['304'] !== undefined,
    isKept: KEPT.has(operationId) && headers.every(({ name }) => name === 'If-None-Match'),
    validators: served.contract.validator.getRequestValidatorsForOperation(operationId) ?? [],
    vocabulary: {
      queryNames: query.map(({ name }) => name),
      headerNames: new Map(headers.map(({ name }) => [name.toLowerCase(), name])),
    },
    handle,
  };
}

/** Anything but one known scheme with at most one known permission is refused at the start, lest it open a door. */
function planSecurity<By extends Acting>(
  operation: Operation,
  { security, permissions }: Served<By>,
): Pick<Plan<By>, 'permission' | 'authenticate'> {
  const [[scheme = '', roles = []] = [], ...otherSchemes] = (operation.security ?? []).flatMap(
    Object.entries<string[]>,
  );
  const [permission, ...otherRoles] = roles;
  const authenticate = security[scheme];
  const isKnown = permission === undefined ? operation.method === 'get' : permissions.includes(permission);
  if (authenticate === undefined || !isKnown || otherSchemes.length + otherRoles.length > 0) {
    throw new Error(`The security of ${operation.operationId} cannot be served: ${JSON.stringify(operation.security)}`);
  }
  return { permission, authenticate };
}

function parametersIn({ parameters = [] }: Operation, location: 'query' | 'header'): { name: string; type: string }[] {
  return parameters.flatMap((parameter) => {
    if (!('in' in parameter) || parameter.in !== location) return [];
    const schema = parameter.schema ?? {};
    return [{ name: parameter.name, type: 'type' in schema ? String(schema.type) : '' }];
  });
}
