import { findKeyIn } from './keys/api-key.ts';

/** The maximum length of a product that is recorded. */
const MAX_CHARACTERS = 60;
/** RFC 9110 section 10.1.5: product = token ["/" product-version]. */
const PRODUCT = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)?/;

/**
 * The first product of a User-Agent header, such as "python-requests/2.32.3", cut to 60 characters; `null` if the header is
 * missing or malformed, or the product contains an API key, which must not be stored.
 */
export function clientProductOf(userAgent: string | undefined): string | null {
  const product = PRODUCT.exec(userAgent ?? '')?.[0] ?? null;
  if (product === null || product.split('/').some((part) => findKeyIn(part) !== null)) return null;
  // A copy: a part of a string keeps the whole string in memory.
  return Buffer.from(product.slice(0, MAX_CHARACTERS)).toString();
}
