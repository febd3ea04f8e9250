// Where something stands in the contract, in words.

export type Place = {
  /** An operation, or a named component. */
  readonly root: string;
  readonly parts: readonly string[];
  /** The way to a field of JSON, such as `data[].name`; empty for the whole. */
  readonly field: string;
};

/** The same spot twice: as seen from the operation, and from the nearest component that has a name. */
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

/** The names of an object's fields, rather than what the fields hold. */
export function atNames(spot: Spot): Spot {
  return both(spot, (place) => ({ ...place, field: `${place.field} (names)`.trim() }));
}

/** The spot is the whole of a component, which other operations may hold too. */
export function inComponent(spot: Spot, component: string): Spot {
  return { at: spot.at, within: spotOf(component).within };
}

export function wordsOf({ root, parts, field }: Place): string {
  return [root, ...parts, ...(field === '' ? [] : [`field ${field}`])].join(', ');
}

/** Which side of which operation holds it: "GET /api/key, response 200". */
export function holderOf({ root, parts }: Place): string {
  return [root, ...parts.slice(0, 1)].join(', ');
}

function both({ at, within }: Spot, change: (place: Place) => Place): Spot {
  return { at: change(at), within: change(within) };
}
