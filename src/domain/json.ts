/** A string of a JSON text; one with a colon behind it is a key. */
const STRING = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/gs;

/**
 * JSON.parse, right for keys with an escape too. V8 takes such a key for another one that it has met at that place in an
 * earlier text, somebody else's perhaps: "\n" becomes "\\" (https://github.com/nodejs/node/issues/63785). So a text that has
 * one is read with numbers for keys, "#0" and so on, and its keys are read as strings of their own.
 */
export function parseJson(text: string): ReturnType<typeof JSON.parse> {
  // First of all, for its refusal: in what is not JSON, looking for the ends of strings can take the square of its length.
  const value = JSON.parse(text);
  if (!text.includes('\\')) return value;
  const keys: string[] = [];
  const numbered = text.replace(STRING, (whole, key: string, colon: string | undefined) =>
    colon === undefined ? whole : `"#${keys.push(key) - 1}"${colon}`,
  );
  // All keys or none: of two that are the same, the one that was sent last counts.
  return keys.some((key) => key.includes('\\')) ? renamed(JSON.parse(numbered), keys) : value;
}

function renamed(numbered: unknown, keys: readonly string[]): unknown {
  const whole = { value: numbered };
  const nameOf = (name: string): string => JSON.parse(keys[Number(name.slice(1))] ?? '');
  // Without recursion, which a body of 100 KiB can take further than the stack goes.
  const holders: object[] = [whole];
  for (let holder = holders.pop(); holder !== undefined; holder = holders.pop()) {
    for (const [place, value] of Object.entries(holder)) {
      if (value === null || typeof value !== 'object') continue;
      const named = Array.isArray(value)
        ? value
        : Object.fromEntries(Object.entries(value).map(([name, member]) => [nameOf(name), member]));
      // Not by assignment, which would lose what is named "__proto__".
      Object.defineProperty(holder, place, { value: named });
      holders.push(named);
    }
  }
  return whole.value;
}
