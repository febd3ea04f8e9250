/** A string in a JSON text; followed by a colon, it is a key. */
const STRING = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/gs;

/**
 * JSON.parse without a V8 bug: V8 can replace a key that has an escape with a key from the same place of an earlier text, such
 * as "\n" with "\\" (https://github.com/nodejs/node/issues/63785). A text with such a key is parsed with placeholders for keys
 * ("#0", "#1"), and the keys are parsed separately, as strings.
 */
export function parseJson(text: string): ReturnType<typeof JSON.parse> {
  // First, to throw for a text that is not JSON, for which STRING could take quadratic time.
  const value = JSON.parse(text);
  if (!text.includes('\\')) return value;
  const keys: string[] = [];
  const numbered = text.replace(STRING, (whole, key: string, colon: string | undefined) =>
    colon === undefined ? whole : `"#${keys.push(key) - 1}"${colon}`,
  );
  // Placeholders for all keys or for none, so that of duplicate keys the last one counts.
  return keys.some((key) => key.includes('\\')) ? renamed(JSON.parse(numbered), keys) : value;
}

function renamed(numbered: unknown, keys: readonly string[]): unknown {
  const whole = { value: numbered };
  const nameOf = (name: string): string => JSON.parse(keys[Number(name.slice(1))] ?? '');
  // Without recursion: a body of 100 KiB can be nested deeper than the stack allows.
  const holders: object[] = [whole];
  for (let holder = holders.pop(); holder !== undefined; holder = holders.pop()) {
    for (const [place, value] of Object.entries(holder)) {
      if (value === null || typeof value !== 'object') continue;
      const named = Array.isArray(value)
        ? value
        : Object.fromEntries(Object.entries(value).map(([name, member]) => [nameOf(name), member]));
      // Not by assignment, which would lose a member named "__proto__".
      Object.defineProperty(holder, place, { value: named });
      holders.push(named);
    }
  }
  return whole.value;
}
