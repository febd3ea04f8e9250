/** The key to send, unless it is the one that the server has refused. Then the present key, which may be the same. */
export type KeySource = (refused: string | undefined) => Promise<string>;

/** Throws, or rejects if the key comes from a function, with a TypeError that never holds the value. */
export function keySourceFrom(given: unknown): KeySource {
  if (typeof given !== 'function') {
    const key = requireApiKey(given);
    return async () => key;
  }
  let known: string | undefined;
  let asking: Promise<string> | undefined;
  const ask = async () => {
    known = requireApiKey(await given());
    return known;
  };
  return async (refused) => {
    if (known !== undefined && known !== refused) return known;
    // Calls that are refused together ask once.
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

/** The token of RFC 6750 section 2.1. The server decides whether it is a valid key, and says why not. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const MAX_TOKEN_CHARACTERS = 1024;

/** Throws a TypeError that never holds the value. `name`: what the caller calls it. */
export function requireApiKey(apiKey: unknown, name = 'apiKey'): string {
  if (typeof apiKey !== 'string' || apiKey === '') throw new TypeError(`${name} is missing or empty.`);
  if (/^bearer\s/i.test(apiKey)) throw new TypeError(`${name} must be the API key alone, without "Bearer".`);
  if (apiKey.trim() !== apiKey)
    throw new TypeError(`${name} begins or ends with a blank or a line break. Remove it, such as with trim().`);
  if (apiKey.length > MAX_TOKEN_CHARACTERS || !TOKEN.test(apiKey)) {
    throw new TypeError(
      `${name} is not an API key: it is too long, or contains spaces or other characters that no key has.`,
    );
  }
  return apiKey;
}
