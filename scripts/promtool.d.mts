export function findPromtool(): string | null;
/** Returns its path, or null if it cannot be unpacked: without Debian packages, or without a network. */
export function unpackPromtool(): string | null;
