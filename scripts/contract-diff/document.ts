// How a document is read: its nodes, its references, and what two values have in common.

export type Node = { readonly [name: string]: unknown };

/** A node and, where a reference led to it, the component that it is: "schema ParentProgram". */
export type Resolved = { readonly node: Node; readonly component: string | null };
export type Resolve = (value: unknown) => Resolved;

/** The sections of `components`, and what one of each is called. */
export const SECTIONS: Readonly<Record<string, string>> = {
  schemas: 'schema',
  responses: 'response',
  parameters: 'parameter',
  headers: 'header',
  requestBodies: 'request body',
  examples: 'example',
  securitySchemes: 'security scheme',
  pathItems: 'path item',
  links: 'link',
  callbacks: 'callback',
};

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What should be an object, as one; an empty one where nothing is. */
export function nodeOf(value: unknown): Node {
  return isNode(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function hasOwn(node: Node, name: string): boolean {
  return Object.hasOwn(node, name);
}

/** A member, and never one that every object inherits, such as a field named "constructor". */
export function member(node: Node, name: string): unknown {
  return hasOwn(node, name) ? node[name] : undefined;
}

/** The names of both, each once, sorted: the order in which somebody wrote them means nothing. */
export function namesOf(...nodes: readonly Node[]): string[] {
  return [...new Set(nodes.flatMap((node) => Object.keys(node)))].sort();
}

/** A text that is the same for equal values, whatever the order of their keys. Documents do not change while compared. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const known = CANONICAL.get(value);
  if (known !== undefined) return known;
  const text = Array.isArray(value) ? `[${value.map(canonical).join()}]` : `{${canonicalMembers(nodeOf(value))}}`;
  CANONICAL.set(value, text);
  return text;
}

const CANONICAL = new WeakMap<object, string>();

function canonicalMembers(node: Node): string {
  return namesOf(node)
    .map((name) => `${JSON.stringify(name)}:${canonical(node[name])}`)
    .join();
}

export function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

/** Follows references within the document; what stands beside a reference counts for more than what it leads to. */
export function resolverOf(document: Node): Resolve {
  const targets = new Map<string, Node>();
  const targetOf = (reference: string) => {
    const target = targets.get(reference) ?? findTarget(document, reference);
    targets.set(reference, target);
    return target;
  };
  return (value) => {
    let node = nodeOf(value);
    let component: string | null = null;
    const followed = new Set<string>();
    while (typeof node['$ref'] === 'string') {
      const { $ref, ...beside } = node;
      const reference = String($ref);
      if (followed.has(reference)) throw new Error(`The reference ${reference} leads to itself.`);
      followed.add(reference);
      component ??= componentOf(reference);
      const target = targetOf(reference);
      node = Object.keys(beside).length === 0 ? target : { ...target, ...beside };
    }
    return { node, component };
  };
}

function findTarget(document: Node, reference: string): Node {
  const target = pointerNames(reference).reduce<unknown>((value, name) => {
    return Array.isArray(value) ? value[Number(name)] : member(nodeOf(value), name);
  }, document);
  if (!isNode(target)) throw new Error(`The reference ${reference} leads nowhere in the document.`);
  return target;
}

function componentOf(reference: string): string | null {
  const [root, section = '', name, ...deeper] = pointerNames(reference);
  const kind = SECTIONS[section];
  return root === 'components' && kind !== undefined && name !== undefined && deeper.length === 0
    ? `${kind} ${name}`
    : null;
}

function pointerNames(reference: string): string[] {
  return reference
    .replace(/^#\/?/, '')
    .split('/')
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
}
