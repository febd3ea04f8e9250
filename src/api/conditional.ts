import { hash } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import { stringifyJson } from '../domain/resources/json.ts';

/** A strong entity tag (RFC 9110 section 8.8.3): equal only for equal bytes. */
export function entityTagOf(representation: string | Buffer): string {
  return `"${hash('sha256', representation, 'base64url').slice(0, 22)}"`;
}

/** Throws a 412 unless If-Match has the entity tag of the row as `present` shows it. */
export function unchangedSince<Row>(
  ifMatch: string | undefined,
  { noun, present }: { noun: string; present: (row: Row) => object },
): (current: Row) => void {
  const stale = `The ${noun} has changed since you read it. Read it again, then retry with its new ETag in If-Match.`;
  return (current) => {
    if (ifMatch === undefined) return;
    const entityTag = entityTagOf(stringifyJson(present(current)));
    requireIfMatch(ifMatch, (tag) => tag === entityTag, stale);
  };
}

/** The conditions of a write: the headers If-Match and If-None-Match. */
type Conditions = { readonly ifMatch: string | undefined; readonly ifNoneMatch: string | undefined };

/**
 * Throws a 412 unless a row, or its absence, meets the conditions of a request to create or replace it (RFC 9110 section 13.2.2).
 * `ownId`: the name of the client's own id.
 */
export function unchangedOrAbsent<Row>(
  { ifMatch, ifNoneMatch }: Conditions,
  { noun, ownId, present }: { noun: string; ownId: string; present: (row: Row) => object },
): (current: Row | null) => void {
  const requireUnchanged = unchangedSince(ifMatch, { noun, present });
  return (current) => {
    if (current === null) {
      if (ifMatch === undefined) return;
      throw unmet(`There is no ${noun} with this ${ownId}. Send the request without If-Match to create it.`);
    }
    requireUnchanged(current);
    if (!satisfiesIfNoneMatch(ifNoneMatch, entityTagOf(stringifyJson(present(current)))))
      throw unmet(`A ${noun} with this ${ownId} exists already. Send the request without If-None-Match to replace it.`);
  };
}

function unmet(message: string): DomainError {
  return new DomainError('precondition_failed', message);
}

/**
 * Throws a 412 unless If-Match has the current entity tag (RFC 9110 section 13.1.1: strong comparison, so a weak tag never
 * matches). An absent header is satisfied. `staleMessage`: what to tell a client whose tag is outdated.
 */
export function requireIfMatch(
  header: string | undefined,
  isCurrent: (strongTag: string) => boolean,
  staleMessage: string,
): void {
  if (header === undefined || header.trim() === '*') return;
  const tags = entityTagsIn(header);
  if (tags.some((tag) => !isWeak(tag) && isCurrent(tag))) return;
  // To read it again would not help: the client would get the same tag, and send it weakened again.
  throw new DomainError('precondition_failed', (tags.some(isWeak) && WEAK) || suffixMessageOf(tags) || staleMessage);
}

/** A tag of this API, then what a proxy has appended: Apache "-gzip" or "-br", Jetty "--gzip", others ";gzip" or ":zstd". */
const WITH_SUFFIX = /^"[\w-]{22}([-;:+._~]{1,2}[a-z-]{2,10})"$/i;

function suffixMessageOf(tags: readonly string[]): string | undefined {
  const [suffix] = tags.flatMap((tag) => WITH_SUFFIX.exec(tag)?.[1] ?? []);
  return suffix === undefined
    ? undefined
    : `The entity tag ends in "${suffix}", which this API does not send. Send the tag in If-Match without it. If you receive the tag with it, a proxy in between has appended it, as proxies do that compress responses.`;
}

const WEAK =
  'A weak entity tag, which begins with W/, never matches in If-Match (RFC 9110 section 13.1.1). Send the strong tag as this API sends it, without W/. If you receive it with W/, a proxy in between has weakened it, as proxies do that compress responses.';

function isWeak(tag: string): boolean {
  return tag.startsWith('W/');
}

function strongOf(tag: string): string {
  return tag.replace(/^W\//, '');
}

/** RFC 9110 section 13.1.2: weak comparison. Returns `false` if the client already has this representation. */
export function satisfiesIfNoneMatch(header: string | undefined, entityTag: string): boolean {
  return !matchesIfNoneMatch(header, (tag) => tag === entityTag);
}

/** Whether If-None-Match has the tag of a representation that exists. */
export function matchesIfNoneMatch(header: string | undefined, isCurrent: (strongTag: string) => boolean): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || entityTagsIn(header).some((tag) => isCurrent(strongOf(tag)));
}

/** The header's tags with their quotes, and a weak one with its W/. */
function entityTagsIn(header: string): string[] {
  return header.match(/(W\/)?"[^"]*"/g) ?? [];
}
