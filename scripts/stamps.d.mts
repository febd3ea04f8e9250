type Group = 'committed' | 'uncommitted' | 'docs';

export function isFresh(group: Group): boolean;
export function beginStamp(group: Group): () => void;
export function digest(files: readonly string[]): string;
