// Versions of the contract, by Semantic Versioning 2.0.0.
import type { Verdict } from '../contract-diff/rules.ts';

export type Version = { readonly major: number; readonly minor: number; readonly patch: number };

export const FIRST: Version = { major: 1, minor: 0, patch: 0 };

/** Null for anything but three numbers: pre-releases are never published. */
export function parseVersion(text: string): Version | null {
  const [, major, minor, patch] = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/.exec(text) ?? [];
  return major === undefined ? null : { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

export function written({ major, minor, patch }: Version): string {
  return `${major}.${minor}.${patch}`;
}

/** Negative if the first is smaller. */
export function byOrder(one: Version, other: Version): number {
  return one.major - other.major || one.minor - other.minor || one.patch - other.patch;
}

/** The version that changes of this verdict require. */
export function successorOf({ major, minor, patch }: Version, largest: Verdict): Version {
  if (largest === 'breaking') return { major: major + 1, minor: 0, patch: 0 };
  return largest === 'additive' ? { major, minor: minor + 1, patch: 0 } : { major, minor, patch: patch + 1 };
}
