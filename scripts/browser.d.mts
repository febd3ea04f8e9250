import type { SpawnSyncReturns } from 'node:child_process';

type Env = Readonly<Record<string, string | undefined>>;

export const REMEDY: string;
export function findBrowser(env?: Env, platform?: string): string | null;
export function findHeadlessShell(env?: Env): string | null;
export function canInstallBrowser(env?: Env): boolean;
export function installBrowser(env?: Env): SpawnSyncReturns<string>;
