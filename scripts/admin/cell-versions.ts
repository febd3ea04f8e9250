import { VERSION } from '../../src/domain/release.ts';

/**
 * Two cells may differ by one release. Returns what to tell the operator if they differ by more, or else `null`. `releases`: the
 * newest first.
 */
export function versionWarning(versions: ReadonlySet<string>, releases: readonly string[]): string | null {
  if (versions.size < 2) return null;
  const places = [...versions].map((version) => releases.indexOf(version));
  const list = [...versions].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).join(', ');
  if (places.includes(-1))
    return `The cells have the versions ${list}, not all of which this command of version ${VERSION} knows. Run that of the newest one.`;
  return Math.max(...places) - Math.min(...places) < 2
    ? null
    : `The versions of the cells differ by more than one release: ${list}. Upgrade the oldest one, one release at a time.`;
}
