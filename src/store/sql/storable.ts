import { isWholePrefix } from '../../domain/keys/api-key.ts';

/**
 * Text from a request, cut to the length of its column: a long header must not roll back an action. NUL, which
 * PostgreSQL refuses, is removed, and an API key, which a client may have put into a header, is shortened to its type. The
 * prefix of a key stays, also that of a key that names its cell.
 */
export function storable(text: string, characters: number): string {
  const clean = text
    .toWellFormed()
    .replaceAll('\0', '')
    .replace(/charter_(live|test)_\w{5,}/g, (found, environment) =>
      isWholePrefix(found) ? found : `charter_${environment}_…`,
    );
  return [...clean.slice(0, 2 * characters)].slice(0, characters).join('').toWellFormed();
}

/** The client of a request, in columns of these lengths. */
export function storableClient({ ip, userAgent }: { readonly ip: string; readonly userAgent: string }) {
  return { ip: storable(ip, 45), userAgent: storable(userAgent, 300) };
}
