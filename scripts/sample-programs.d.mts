import type { SpawnSyncReturns } from 'node:child_process';

type Env = Readonly<Record<string, string | undefined>>;

export const REMEDY: string;
export function missingPrograms(options?: { isFull?: boolean; env?: Env }): string[];
export function installPrograms(names: readonly string[], env?: Env): SpawnSyncReturns<string>;
