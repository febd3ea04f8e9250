/**
 * Finds a path's template in one step a segment, however many paths the contract has. Segments are compared decoded
 * (RFC 3986 section 6.2.2.2); a literal one goes before a parameter, as OpenAPI asks.
 */
export class Routes<Target> {
  readonly #root: Segment<Target> = { literals: new Map(), parameter: undefined, target: undefined };

  /** The target of a template such as "/api/parent_programs/{id}", made at the first call for it. */
  at(template: string, create: () => Target): Target {
    let segment = this.#root;
    for (const text of template.slice(1).split('/'))
      segment = text.startsWith('{') ? parameterOf(segment) : literalOf(segment, text);
    segment.target ??= create();
    return segment.target;
  }

  /** `values` are the parameters as they stand in the path, not decoded, in the template's order. */
  find(path: string): { target: Target; values: string[] } | null {
    const values: string[] = [];
    const target = seek(this.#root, path.slice(1).split('/'), 0, values);
    return target === undefined ? null : { target, values };
  }
}

type Segment<Target> = {
  readonly literals: Map<string, Segment<Target>>;
  parameter: Segment<Target> | undefined;
  target: Target | undefined;
};

function seek<Target>(segment: Segment<Target>, texts: string[], at: number, values: string[]): Target | undefined {
  const text = texts[at];
  if (text === undefined) return segment.target;
  const literal = segment.literals.get(decodeOr(text));
  const found = literal === undefined ? undefined : seek(literal, texts, at + 1, values);
  if (found !== undefined || segment.parameter === undefined || text === '') return found;
  values.push(text);
  const behind = seek(segment.parameter, texts, at + 1, values);
  if (behind === undefined) values.pop();
  return behind;
}

function literalOf<Target>(segment: Segment<Target>, text: string): Segment<Target> {
  const next = segment.literals.get(text) ?? { literals: new Map(), parameter: undefined, target: undefined };
  segment.literals.set(text, next);
  return next;
}

function parameterOf<Target>(segment: Segment<Target>): Segment<Target> {
  segment.parameter ??= { literals: new Map(), parameter: undefined, target: undefined };
  return segment.parameter;
}

function decodeOr(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // Malformed; the router says so once the caller is known.
  }
}
