// Collects the changes that a comparison finds. A change of a component is one change, however many operations use it.

import { type Place, type Spot, userOf, wordsOf } from './place.ts';
import { type Direction, RULES, type Rule, type RuleName, type Verdict } from './rules.ts';

export type Change = {
  readonly rule: RuleName;
  readonly direction: Direction;
  readonly verdict: Verdict;
  readonly place: string;
  /** `place` without the list of operations that use the component. */
  readonly shortPlace: string;
  readonly words: string;
  /** Why it is breaking; otherwise empty. */
  readonly why: string;
  /** It removes something that should have been published as deprecated before. */
  readonly lacksDeprecation: boolean;
};

export type Details = {
  readonly name?: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** What is removed was deprecated in the old document. */
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

/** The place of the change or, for a component in several places, the component and the first few of its users. */
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
