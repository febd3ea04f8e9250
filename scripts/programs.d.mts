import type { SpawnSyncReturns } from 'node:child_process';

type Env = Readonly<Record<string, string | undefined>>;

export const BROWSER_REMEDY: string;
export function findBrowser(env?: Env, platform?: string): string | null;
export function findHeadlessShell(env?: Env): string | null;
export function canInstallBrowser(env?: Env): boolean;
export function installBrowser(env?: Env): SpawnSyncReturns<string>;

export function findPromtool(): string | null;
/** Returns the path of promtool; `null` if it cannot be unpacked, because the machine has no Debian packages or no network. */
export function unpackPromtool(): string | null;

export const PROGRAMS_REMEDY: string;
export function missingPrograms(options?: { isFull?: boolean; env?: Env }): string[];
export function installPrograms(names: readonly string[], env?: Env): SpawnSyncReturns<string>;

export function findOnPath(names: readonly string[], env?: Env): string | null;
export function canInstallPackages(env?: Env): boolean;
export function installPackages(packages: readonly string[], env?: Env): SpawnSyncReturns<string>;
export function unpackPackages(
  packages: readonly string[],
  options: { readonly folder: string; readonly downloads: string; readonly env?: Env },
): SpawnSyncReturns<string>;
export function isProgram(path: string): boolean;
