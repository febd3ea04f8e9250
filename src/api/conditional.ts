import { hash } from 'node:crypto';

/** A strong entity tag (RFC 9110 section 8.8.3): equal only for equal bytes. */
export function entityTagOf(representation: string | Buffer): string {
  return `"${hash('sha256', representation, 'base64url').slice(0, 22)}"`;
}

/** RFC 9110 section 13.1.1: strong comparison, so a weak tag never matches. An absent header is satisfied. */
export function satisfiesIfMatch(header: string | undefined, entityTag: string): boolean {
  return header === undefined || header.trim() === '*' || entityTagsIn(header).includes(entityTag);
}

/** RFC 9110 section 13.1.2: weak comparison. False: the client already has this representation. */
export function satisfiesIfNoneMatch(header: string | undefined, entityTag: string): boolean {
  if (header === undefined) return true;
  if (header.trim() === '*') return false;
  return !entityTagsIn(header).some((tag) => tag.replace(/^W\//, '') === entityTag);
}

/** The header's tags with their quotes, and a weak one with its W/. */
export function entityTagsIn(header: string): string[] {
  return header.match(/(W\/)?"[^"]*"/g) ?? [];
}
