import { randomUUID } from 'node:crypto';

/** A string of a JSON text; one with a colon behind it is a key. */
const STRING = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/gs;

/**
 * JSON.parse, right for keys with an escape too. V8 takes such a key for another one that it has met at that place in an
 * earlier text, somebody else's perhaps: "\n" becomes "\\" (https://github.com/nodejs/node/issues/63785). So these are kept
 * out of its way under names that nobody can have sent, and are read as strings of their own.
 */
export function parseJson(text: string): ReturnType<typeof JSON.parse> {
  if (!text.includes('\\')) return JSON.parse(text);
  const nonce = randomUUID();
  const keys: string[] = [];
  const named = text.replace(STRING, (whole, string: string, colon: string | undefined) =>
    colon === undefined || !string.includes('\\') ? whole : `"${nonce}${keys.push(string) - 1}"${colon}`,
  );
  if (keys.length === 0) return JSON.parse(text);
  const nameOf = (name: string) =>
    name.startsWith(nonce) ? JSON.parse(keys[Number(name.slice(nonce.length))] ?? '') : name;
  const renamed = (_: string, value: unknown) =>
    value === null || typeof value !== 'object' || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).map(([name, member]) => [nameOf(name), member]));
  try {
    return JSON.parse(named, renamed);
  } catch (error) {
    // Of what is wrong JSON.parse tells in the words of the text that it was given.
    JSON.parse(text);
    throw error;
  }
}
