/** A position in a list, and the side of it on which the requested page lies. */
export type Edge<Position> = Position & { readonly side: 'after' | 'before' };
