// Places in the contract, and how they are written.

export type Place = {
  /** An operation, or a named component. */
  readonly root: string;
  readonly parts: readonly string[];
  /** The path of a field, such as `data[].name`; empty for the whole value. */
  readonly field: string;
};

/** One spot, seen twice: from the operation, and from the nearest named component. */
export type Spot = { readonly at: Place; readonly within: Place };

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

/** The names of an object's fields, rather than their values. */
export function atNames(spot: Spot): Spot {
  return both(spot, (place) => ({ ...place, field: `${place.field} (names)`.trim() }));
}

/** The spot is a whole component, which other operations may use too. */
export function inComponent(spot: Spot, component: string): Spot {
  return { at: spot.at, within: spotOf(component).within };
}

export function wordsOf({ root, parts, field }: Place): string {
  return [root, ...parts, ...(field === '' ? [] : [`field ${field}`])].join(', ');
}

/** The part of an operation that uses it: "GET /api/key, response 200". */
export function userOf({ root, parts }: Place): string {
  return [root, ...parts.slice(0, 1)].join(', ');
}

function both({ at, within }: Spot, change: (place: Place) => Place): Spot {
  return { at: change(at), within: change(within) };
}
