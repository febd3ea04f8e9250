import type { IncomingMessage } from 'node:http';
import type { ValidateFunction } from 'ajv';
import type { Operation } from 'openapi-backend';
import type { Caller } from '../domain/caller.ts';
import { isPermission, type Permission } from '../domain/role.ts';
import type { Contract } from './contract.ts';
import type { HandlerDeps, Handlers, OperationId } from './operation.ts';
import type { ParameterTypes } from './request-input.ts';
import { Routes } from './routes.ts';
import type { Vocabulary } from './violations.ts';

// What openapi-backend would look up in the contract on every request, made ready once, at the start.

/** Their answers depend on the organization's data and the address alone: on no key, on no time. */
const KEPT: ReadonlySet<string> = new Set<OperationId>(['listParentPrograms', 'getParentProgram']);

export type Plan = {
  /** Undefined: any key will do. */
  readonly permission: Permission | undefined;
  readonly authenticate: Authenticate;
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
  readonly handle: (input: object, deps: HandlerDeps) => Promise<Answer>;
};

/** What a handler returns. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Null: the answer has none. */
  readonly body: unknown;
};

export type Authenticate = (req: IncomingMessage) => Promise<Caller>;

/** A path's operations by method, and the same for the Allow header. */
export type Methods = { readonly byName: Map<string, Plan>; allow: string };

export type Served = {
  readonly contract: Contract;
  readonly handlers: Handlers;
  /** By the name of the contract's security scheme. */
  readonly security: Readonly<Record<string, Authenticate>>;
};

export function planRoutes(served: Served): Routes<Methods> {
  const routes = new Routes<Methods>();
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

function planOperation(operation: Operation, { contract, handlers, security }: Served): Plan {
  const { operationId = '', responses = {} } = operation;
  if (!isServed(operationId, handlers)) throw new Error(`The operation ${operationId} of the contract has no handler.`);
  const query = parametersIn(operation, 'query');
  const success = responses['200'] ?? responses['201'] ?? {};
  return {
    ...planSecurity(operation, security),
    pathNames: [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name),
    queryTypes: new Map(query.map(({ name, type }) => [name, type])),
    hasBody: operation.requestBody !== undefined,
    hasEntityTag: 'headers' in success && Object.hasOwn(success.headers ?? {}, 'ETag'),
    isConditional: responses['304'] !== undefined,
    isKept: KEPT.has(operationId),
    validators: contract.validator.getRequestValidatorsForOperation(operationId) ?? [],
    vocabulary: {
      queryNames: query.map(({ name }) => name),
      headerNames: new Map(parametersIn(operation, 'header').map(({ name }) => [name.toLowerCase(), name])),
    },
    // The contract's validators are what makes the input this operation's; from here on the types hold.
    handle: handlers[operationId] as Plan['handle'],
  };
}

/** Anything but one known scheme with at most one known permission is refused at the start, lest it open a door. */
function planSecurity(operation: Operation, security: Served['security']): Pick<Plan, 'permission' | 'authenticate'> {
  const [[scheme = '', roles = []] = [], ...otherSchemes] = (operation.security ?? []).flatMap(
    Object.entries<string[]>,
  );
  const [permission, ...otherRoles] = roles;
  const authenticate = security[scheme];
  const isKnown = permission === undefined ? operation.method === 'get' : isPermission(permission);
  if (authenticate === undefined || !isKnown || otherSchemes.length + otherRoles.length > 0) {
    throw new Error(`The security of ${operation.operationId} cannot be served: ${JSON.stringify(operation.security)}`);
  }
  return { permission: roles.find(isPermission), authenticate };
}

function isServed(operationId: string, handlers: Handlers): operationId is OperationId {
  return operationId in handlers;
}

function parametersIn({ parameters = [] }: Operation, location: 'query' | 'header'): { name: string; type: string }[] {
  return parameters.flatMap((parameter) => {
    if (!('in' in parameter) || parameter.in !== location) return [];
    const schema = parameter.schema ?? {};
    return [{ name: parameter.name, type: 'type' in schema ? String(schema.type) : '' }];
  });
}
