/**
 * Finds the path template that a path matches in one step per segment, however many paths the contract has. Literal
 * segments are compared decoded (RFC 3986 section 6.2.2.2) and take precedence over parameters, as OpenAPI asks.
 */
export class PathTree<Target> {
  readonly #root: Node<Target> = createNode();

  /** The target of a template such as "/api/parent_programs/{id}", created at the first call for it. */
  at(template: string, create: () => Target): Target {
    let node = this.#root;
    for (const segment of template.slice(1).split('/'))
      node = segment.startsWith('{') ? parameterOf(node) : literalOf(node, segment);
    node.target ??= create();
    return node.target;
  }

  /** `values` are the path's parameters in the template's order, still percent-encoded. */
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
