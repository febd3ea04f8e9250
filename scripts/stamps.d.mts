type Group = 'committed' | 'uncommitted' | 'docs';

export function isFresh(group: Group): boolean;
export function beginStamp(group: Group): () => void;
/** Returns the files from which the documentation is built, relative to the root of the checkout. */
export function docsSources(): string[];
export function digest(files: readonly string[]): string;
