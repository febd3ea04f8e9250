import { type Document, OpenAPIRouter, type Operation, type ParsedRequest, type Request } from 'openapi-backend';
import { DomainError } from '../domain/errors.ts';
import { ApiRequest } from './api-request.ts';
import { HttpError } from './exceptions.ts';
import { type ContractOperation, describeOperation } from './operation.ts';
import { MAX_URL_BYTES, urlTooLongError } from './unreadable-request.ts';

/** The operations of a path by method, and the value of the Allow header. */
type PathItem = { readonly template: string; readonly byMethod: Map<string, ContractOperation>; allow: string };

/**
 * The error that tells openapi-backend that no operation matches; `refusalOf` returns the reason. The error is created once,
 * because it is thrown often.
 */
const UNMATCHED = new Error('404-notFound: no route matches request');

const SEE_DOCUMENT = 'See the paths in the API document.';

/**
 * Replaces openapi-backend's router by one that does as much work as possible once, at startup. openapi-backend's matchOperation
 * compares a path with every template in turn (1.6 ms for 200 paths), its getOperations lists the document again on each call,
 * and its parseRequest parses a query string leniently: a repeated parameter becomes an array, brackets nest, and 0x10 is an
 * integer.
 */
export class ContractRouter extends OpenAPIRouter<Document> {
  readonly #tree = new PathTree<PathItem>();
  readonly #byId: ReadonlyMap<string, ContractOperation>;

  constructor(definition: Document, permissions: readonly string[]) {
    super({ definition });
    const operations = super.getOperations().map((operation) => describeOperation(operation, permissions));
    this.#byId = new Map(operations.map((operation) => [operation.operationId, operation]));
    for (const operation of operations) {
      const item = this.#tree.at(operation.path, () => ({ template: operation.path, byMethod: new Map(), allow: '' }));
      item.byMethod.set(operation.method.toUpperCase(), operation);
      // HEAD is GET without the content (RFC 9110 section 9.3.2).
      if (operation.method === 'get') item.byMethod.set('HEAD', operation);
      item.allow = [...item.byMethod.keys()].join(', ');
    }
  }

  override getOperations(): ContractOperation[] {
    // `#byId` has been set, because the constructor of the base class does not call this method.
    return [...this.#byId.values()];
  }

  override getOperation(operationId: string): ContractOperation | undefined {
    return this.#byId.get(operationId);
  }

  override matchOperation(request: Request): Operation;
  override matchOperation(request: Request, strict: boolean): Operation;
  override matchOperation(request: Request): Operation {
    const called = ApiRequest.of(request);
    if (this.matches(called)) return called.operation;
    throw UNMATCHED;
  }

  /** Finds the operation that a request calls, and stores it in the request. Returns `false` if no operation matches. */
  matches(request: ApiRequest): boolean {
    const { url, method } = request;
    const mark = url.indexOf('?');
    const found = this.#tree.find(mark < 0 ? url : url.slice(0, mark));
    if (found === null) return false;
    const { byMethod, allow } = found.target;
    const operation = byMethod.get(method);
    request.match({ operation, allow, values: found.values });
    return operation !== undefined;
  }

  /** Returns the request itself, which decodes its path and its query string only when they are needed. */
  override parseRequest(request: Request): ParsedRequest {
    if (request.path.length > MAX_URL_BYTES) throw urlTooLongError();
    return ApiRequest.of(request);
  }

  /** Returns the refusal of a request that calls no operation: a 404 for its path, or a 405 for its method. */
  refusalOf({ url, method, allow }: ApiRequest): DomainError | HttpError {
    if (allow === '')
      return new DomainError(
        'not_found',
        `There is nothing at this path. ${this.#remedyFor(url.split('?', 1)[0] ?? '')}`,
      );
    return new HttpError('method_not_allowed', `${method} is not allowed. Allowed methods: ${allow}.`, {
      Allow: allow,
    });
  }

  #remedyFor(path: string): string {
    // The lookbehind makes the search linear. Without it, the search would start again at each of several consecutive slashes.
    const shorter = path.replace(/(?<!\/)\/+$/, '');
    if (shorter === path) return SEE_DOCUMENT;
    const template = this.#templateOf(shorter);
    const longer = this.#templateOf(`${path}x`);
    // The last value may be empty, as in "/by_external_id/" for "/by_external_id/{external_id}". Without its last slash, such a
    // path would look like "/{id}".
    if (template !== shorter && longer?.startsWith(path)) return `Its last part is empty: ${longer}`;
    return template === undefined ? SEE_DOCUMENT : `Remove the slash at its end: ${shorter}`;
  }

  /** Returns the contract's path that matches, such as "/api/parent_programs/{id}". `path` has no query string. */
  #templateOf(path: string): string | undefined {
    return this.#tree.find(path)?.target.template;
  }
}

/**
 * Finds the template that a path matches, in one step for each segment, however many paths the contract has. Literal segments are
 * compared in decoded form (RFC 3986 section 6.2.2.2) and take precedence over parameters, as OpenAPI requires.
 */
class PathTree<Target> {
  readonly #root: Node<Target> = createNode();

  /**
   * Returns the target of a template such as "/api/parent_programs/{id}". Creates it if this is the first call for the template.
   */
  at(template: string, create: () => Target): Target {
    let node = this.#root;
    for (const segment of template.slice(1).split('/'))
      node = segment.startsWith('{') ? parameterOf(node) : literalOf(node, segment);
    node.target ??= create();
    return node.target;
  }

  /**
   * Returns the target of the template that the path matches, or `null`. `values` are the path parameters in the order of the
   * template, still percent-encoded.
   */
  find(path: string): { target: Target; values: string[] } | null {
    const values: string[] = [];
    const target = seek(this.#root, path.slice(1).split('/'), 0, values);
    return target === undefined ? null : { target, values };
  }
}

type Node<Target> = {
  readonly literals: Map<string, Node<Target>>;
  parameter: Node<Target> | undefined;
  target: Target | undefined;
};

function createNode<Target>(): Node<Target> {
  return { literals: new Map(), parameter: undefined, target: undefined };
}

function seek<Target>(node: Node<Target>, segments: string[], at: number, values: string[]): Target | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.target;
  const literal = node.literals.get(decodeOrKeep(segment));
  const found = literal === undefined ? undefined : seek(literal, segments, at + 1, values);
  if (found !== undefined || node.parameter === undefined || segment === '') return found;
  values.push(segment);
  const behind = seek(node.parameter, segments, at + 1, values);
  if (behind === undefined) values.pop();
  return behind;
}

function literalOf<Target>(node: Node<Target>, segment: string): Node<Target> {
  const next = node.literals.get(segment) ?? createNode();
  node.literals.set(segment, next);
  return next;
}

function parameterOf<Target>(node: Node<Target>): Node<Target> {
  node.parameter ??= createNode();
  return node.parameter;
}

function decodeOrKeep(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // The 400 for a malformed encoding comes after authentication, when the parameters are decoded.
  }
}
