// The state of a comparison of two documents, and the comparison of simple fields.
import { followReference, type Json, namesIn } from '../../src/contract/document.ts';
import { isSame, member, namesOf, objectOf } from './json.ts';
import { type Direction, RULES, type Rule, type RuleName, type Verdict } from './rules.ts';

export type Comparison = {
  readonly before: Resolve;
  readonly after: Resolve;
  readonly report: Report;
  readonly compared: Set<string>;
  /** The pairs of schemas, each with its direction, that were compared and are equal. Most pairs occur many times. */
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

/** The old and the new value, their place in the documents, and the direction in which the values are sent. */
export type Pair<T> = { readonly spot: Spot; readonly direction: Direction; readonly before: T; readonly after: T };

/**
 * The names of fields, separated by spaces, for each rule. Other functions compare the fields in `elsewhere`. A field that is not
 * listed is unknown.
 */
export type FieldRules = Readonly<Partial<Record<RuleName | 'elsewhere', string>>>;

/**
 * Returns the members of this name in the old and the new value, as a pair. A member that is not an object counts as an empty
 * object.
 */
export function inside<T extends Json>({ before, after, ...rest }: Pair<T>, name: string): Pair<Json> {
  return { ...rest, before: objectOf(before[name]), after: objectOf(after[name]) };
}

export function resolvePair(comparison: Comparison, pair: Pair<unknown>): Pair<Json> {
  const before = comparison.before(pair.before);
  const after = comparison.after(pair.after);
  return { ...pair, before: before.node, after: after.node, spot: spotOfBoth(comparison, pair.spot, before, after) };
}

/** Returns the spot of the component if both values refer to the same component, otherwise the given spot. */
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
    const rule = ruleOf(name, rules);
    if (rule !== 'elsewhere') report(rule, pair.spot, pair.direction, { name, before, after });
  }
}

function ruleOf(field: string, rules: FieldRules): RuleName | 'elsewhere' {
  // The assertion is safe, because the object has only the keys of its type.
  const entries = Object.entries(rules) as [RuleName | 'elsewhere', string][];
  const [rule] = entries.find(([, names]) => names.split(' ').includes(field)) ?? [];
  return rule ?? (field.startsWith('x-') ? 'words changed' : 'unknown changed');
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

// Collects the changes that a comparison finds. A change of a component counts once, whatever the number of operations that use
// the component.

export type Change = {
  readonly rule: RuleName;
  readonly direction: Direction;
  readonly verdict: Verdict;
  readonly place: string;
  /** The place without the list of operations that use the component. */
  readonly shortPlace: string;
  readonly words: string;
  /** Why the change is breaking; empty if it is not breaking. */
  readonly why: string;
  /** Whether the change removes something that should have been published as deprecated before, but was not. */
  readonly lacksDeprecation: boolean;
};

type Details = {
  readonly name?: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** Whether the removed item was deprecated in the old document. */
  readonly wasDeprecated?: boolean;
};
export type Report = (rule: RuleName, spot: Spot, direction: Direction, details?: Details) => void;

type Found = Omit<Change, 'place' | 'shortPlace'> & { readonly within: Place; readonly places: Place[] };

export function newFindings(): { readonly report: Report; readonly changes: () => Change[] } {
  const found = new Map<string, Found>();
  const report: Report = (name, spot, direction, details = {}) => {
    const rule: Rule = RULES[name];
    const { verdict } = rule[direction];
    const words = fill(rule.says, details);
    const key = JSON.stringify([wordsOf(spot.within), words, verdict, rule[direction].why]);
    const one = found.get(key) ?? {
      rule: name,
      direction,
      verdict,
      words,
      why: fill(rule[direction].why, details),
      lacksDeprecation: verdict === 'breaking' && rule.needsDeprecation && details.wasDeprecated !== true,
      within: spot.within,
      places: [],
    };
    one.places.push(spot.at);
    found.set(key, one);
  };
  return {
    report,
    changes: () =>
      [...found.values()].map(({ within, places, ...change }) => ({ ...change, ...placeOf(within, places) })),
  };
}

/**
 * Returns the place of the change. If a changed component is used in several places, `place` names the component and the first of
 * these places; `shortPlace` names only the component.
 */
function placeOf(within: Place, places: readonly Place[]): Pick<Change, 'place' | 'shortPlace'> {
  const whole = [...new Set(places.map(wordsOf))];
  if (whole.length === 1) return { place: whole.join(), shortPlace: whole.join() };
  const users = [...new Set(places.map(userOf))];
  const shown = users.length > 4 ? [...users.slice(0, 3), `${users.length - 3} more`] : users;
  const shortPlace = wordsOf(within);
  return { place: `${shortPlace} (${shown.join('; ')})`, shortPlace };
}

function fill(says: string, { name = '', before, after }: Details): string {
  const words: Record<string, string> = { '{name}': name, '{before}': show(before), '{after}': show(after) };
  return says.replaceAll(/\{(?:name|before|after)\}/g, (mark) => words[mark] ?? mark);
}

const LONGEST = 120;

function show(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none');
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
}

type Place = {
  /** An operation, or a named component. */
  readonly root: string;
  readonly parts: readonly string[];
  /** The path of a field, such as `data[].name`; empty for the whole value. */
  readonly field: string;
};

/** A place relative to its operation (`at`) and relative to the nearest named component (`within`). */
type Spot = { readonly at: Place; readonly within: Place };

export function spotOf(root: string): Spot {
  const place = { root, parts: [], field: '' };
  return { at: place, within: place };
}

export function atPart(spot: Spot, part: string): Spot {
  return both(spot, (place) => ({ ...place, parts: [...place.parts, part] }));
}

export function atField(spot: Spot, name: string): Spot {
  return both(spot, (place) => ({ ...place, field: place.field === '' ? name : `${place.field}.${name}` }));
}

export function atItems(spot: Spot): Spot {
  return both(spot, (place) => ({ ...place, field: `${place.field}[]` }));
}

/** Returns the spot of the names of an object's fields, as opposed to the values. */
export function atNames(spot: Spot): Spot {
  return both(spot, (place) => ({ ...place, field: `${place.field} (names)`.trim() }));
}

/** Returns the spot with the given component as the nearest component. */
function inComponent(spot: Spot, component: string): Spot {
  return { at: spot.at, within: spotOf(component).within };
}

function wordsOf({ root, parts, field }: Place): string {
  return [root, ...parts, ...(field === '' ? [] : [`field ${field}`])].join(', ');
}

/** Returns the part of the operation that contains the place, such as "GET /api/key, response 200". */
function userOf({ root, parts }: Place): string {
  return [root, ...parts.slice(0, 1)].join(', ');
}

function both({ at, within }: Spot, change: (place: Place) => Place): Spot {
  return { at: change(at), within: change(within) };
}

/**
 * An object of the document, and the component to which a `$ref` led, such as "schema ParentProgram"; `null` if there was no
 * `$ref`.
 */
type Resolved = { readonly node: Json; readonly component: string | null };
export type Resolve = (value: unknown) => Resolved;

/** The sections of `components`, each with the noun for one component. */
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

function resolverOf(document: Json): Resolve {
  return (value) => {
    const { target, reference } = followReference(document, objectOf(value));
    return { node: target, component: reference === null ? null : componentOf(reference) };
  };
}

function componentOf(reference: string): string | null {
  const [root, section = '', name, ...deeper] = namesIn(reference);
  const kind = SECTIONS[section];
  return root === 'components' && kind !== undefined && name !== undefined && deeper.length === 0
    ? `${kind} ${name}`
    : null;
}
