// The state of a comparison of two documents, and the comparison of plain fields.
import type { Json } from '../../src/contract/document.ts';
import type { Report } from './findings.ts';
import { isSame, member, namesOf } from './json.ts';
import { inComponent, type Spot } from './place.ts';
import { type Resolve, type Resolved, resolverOf } from './resolve.ts';
import type { Direction, RuleName } from './rules.ts';

export type Comparison = {
  readonly before: Resolve;
  readonly after: Resolve;
  readonly report: Report;
  /** The components that were compared. */
  readonly compared: Set<string>;
  /** Pairs of schemas, with their direction, that are known to be the same. Most pairs occur many times. */
  readonly same: Set<string>;
};

export function newComparison(before: Json, after: Json, findings: { readonly report: Report }): Comparison {
  return {
    before: resolverOf(before),
    after: resolverOf(after),
    report: findings.report,
    compared: new Set(),
    same: new Set(),
  };
}

/** The old and the new value at a spot, and the direction in which they are sent. */
export type Pair<T> = { readonly spot: Spot; readonly direction: Direction; readonly before: T; readonly after: T };

/** The rule for each field; null if it is compared elsewhere. A field without an entry is unknown. */
export type FieldRules = Readonly<Record<string, RuleName | null>>;

export function resolvePair(comparison: Comparison, pair: Pair<unknown>): Pair<Json> {
  const before = comparison.before(pair.before);
  const after = comparison.after(pair.after);
  return { ...pair, before: before.node, after: after.node, spot: spotOfBoth(comparison, pair.spot, before, after) };
}

/** If both are the same component, changes belong to that component. */
export function spotOfBoth(
  { compared }: Comparison,
  spot: Spot,
  before: Pick<Resolved, 'component'>,
  after: Pick<Resolved, 'component'>,
): Spot {
  if (before.component === null || before.component !== after.component) return spot;
  compared.add(before.component);
  return inComponent(spot, before.component);
}

export function compareFields({ report }: Comparison, pair: Pair<Json>, rules: FieldRules): void {
  for (const name of namesOf(pair.before, pair.after)) {
    const [before, after] = [member(pair.before, name), member(pair.after, name)];
    if (isSame(before, after)) continue;
    const rule =
      rules[name] === undefined ? (name.startsWith('x-') ? 'words changed' : 'unknown changed') : rules[name];
    if (rule !== null) report(rule, pair.spot, pair.direction, { name, before, after });
  }
}

export function compareDeprecation({ report }: Comparison, { spot, direction, before, after }: Pair<Json>): void {
  const [was, is] = [before['deprecated'] === true, after['deprecated'] === true];
  if (was !== is) report(is ? 'deprecation added' : 'deprecation removed', spot, direction);
}

/** Compares the flag `required`. */
export function compareRequirement({ report }: Comparison, { spot, direction, before, after }: Pair<Json>): void {
  const [was, is] = [before['required'] === true, after['required'] === true];
  if (was !== is) report(is ? 'requirement narrowed' : 'requirement widened', spot, direction);
}
