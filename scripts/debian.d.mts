import type { SpawnSyncReturns } from 'node:child_process';

type Env = Readonly<Record<string, string | undefined>>;

export function findOnPath(names: readonly string[], env?: Env): string | null;
export function canInstallPackages(env?: Env): boolean;
export function installPackages(packages: readonly string[], env?: Env): SpawnSyncReturns<string>;
export function unpackPackages(
  packages: readonly string[],
  options: { readonly folder: string; readonly downloads: string; readonly env?: Env },
): SpawnSyncReturns<string>;
export function isProgram(path: string): boolean;
