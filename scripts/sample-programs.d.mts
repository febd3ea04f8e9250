import type { SpawnSyncReturns } from 'node:child_process';

type Env = Readonly<Record<string, string | undefined>>;

export const REMEDY: string;
export function missingPrograms(env?: Env): string[];
export function installPrograms(env?: Env): SpawnSyncReturns<string>;
