export function findPromtool(): string | null;
/** Returns its path, or null if this machine has no Debian packages. */
export function unpackPromtool(): string | null;
