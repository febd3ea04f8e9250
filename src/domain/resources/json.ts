/** A string in a JSON text. A string that is followed by a colon is a name. */
const STRING = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/gs;

/**
 * Parses JSON as JSON.parse does, but avoids a V8 bug: V8 can replace a key that has an escape with a key from the same place of
 * an earlier text, such as "\n" with "\\" (https://github.com/nodejs/node/issues/63785). A text with such a key is parsed with
 * placeholders for keys ("#0", "#1"), and the keys are parsed separately, as strings.
 */
export function parseJson(text: string): ReturnType<typeof JSON.parse> {
  // The text is first parsed as a whole, because STRING could take quadratic time for a text that is not JSON.
  const value = JSON.parse(text);
  if (!text.includes('\\')) return value;
  const keys: string[] = [];
  const numbered = text.replace(STRING, (whole, key: string, colon: string | undefined) =>
    colon === undefined ? whole : `"#${keys.push(key) - 1}"${colon}`,
  );
  // If one key has an escape, all keys get placeholders, so that the last of several equal keys counts, however each is written.
  return keys.some((key) => key.includes('\\')) ? restoreKeys(JSON.parse(numbered), keys) : value;
}

/**
 * An object or array that has not ended. `names` counts the names of an object, and is `undefined` for an array. `at` is the
 * current name or index.
 */
type Level = { readonly names: Map<string, number> | undefined; at: string | number };

/**
 * Returns the paths, such as "metadata.colour", of the first `most` names that an object has more than once. RFC 8259 section 4
 * does not say which value counts; JSON.parse uses the last one. `text` must be valid JSON. Takes time proportional to the length
 * of the text, at worst `most` times as long, and uses no recursion.
 */
export function repeatedNamesIn(text: string, most: number): readonly string[] {
  const found: string[] = [];
  const path: Level[] = [];
  let isName = false;
  for (let i = 0; i < text.length && found.length < most; i += 1) {
    switch (text[i]) {
      case '{':
        path.push({ names: new Map(), at: '' });
        isName = true;
        break;
      case '[':
        path.push({ names: undefined, at: 0 });
        isName = false;
        break;
      case '}':
      case ']':
        path.pop();
        isName = false;
        break;
      case ',': {
        const level = path.at(-1);
        isName = level?.names !== undefined;
        if (typeof level?.at === 'number') level.at += 1;
        break;
      }
      case '"': {
        const end = endOfString(text, i);
        const level = isName ? path.at(-1) : undefined;
        if (level?.names !== undefined) {
          level.at = stringIn(text, i, end);
          const times = (level.names.get(level.at) ?? 0) + 1;
          level.names.set(level.at, times);
          // Each repeated name is added only once, because a path can be as long as the text.
          if (times === 2) found.push(path.map(({ at }) => at).join('.'));
        }
        isName = false;
        i = end;
      }
    }
  }
  return [...new Set(found)];
}

/** Returns the index of the quotation mark that closes a string. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

/** Returns whether an odd number of backslashes precedes the character. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}

function stringIn(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end);
  return name.includes('\\') ? JSON.parse(text.slice(start, end + 1)) : name;
}

function restoreKeys(numbered: unknown, keys: readonly string[]): unknown {
  const whole = { value: numbered };
  const nameOf = (name: string): string => JSON.parse(keys[Number(name.slice(1))] ?? '');
  // A loop is used in place of recursion, because a body of 100 KiB can be nested deeper than the stack allows.
  const holders: object[] = [whole];
  for (let holder = holders.pop(); holder !== undefined; holder = holders.pop()) {
    for (const [place, value] of Object.entries(holder)) {
      if (value === null || typeof value !== 'object') continue;
      const named = Array.isArray(value)
        ? value
        : Object.fromEntries(Object.entries(value).map(([name, member]) => [nameOf(name), member]));
      // An assignment would lose a member with the name "__proto__".
      Object.defineProperty(holder, place, { value: named });
      holders.push(named);
    }
  }
  return whole.value;
}

/** Returns the value as JSON text that is equal for equal JSON, whatever the order of the members of objects. */
export function canonicalJson(whole: unknown): string {
  let text = '';
  // A loop is used in place of recursion, because a body can be nested deeper than the stack allows.
  const left: (string | { readonly value: unknown })[] = [{ value: whole }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next === 'string') text += next;
    else if (typeof next.value !== 'object' || next.value === null) text += JSON.stringify(next.value);
    else {
      const isArray = Array.isArray(next.value);
      const given = Object.entries(next.value).filter(([, value]) => value !== undefined);
      const members = isArray ? given : given.sort(([a], [b]) => (a < b ? -1 : 1));
      text += isArray ? '[' : '{';
      left.push(isArray ? ']' : '}');
      for (const [i, [name, value]] of [...members.entries()].reverse())
        left.push({ value }, `${i === 0 ? '' : ','}${isArray ? '' : `${JSON.stringify(name)}:`}`);
    }
  }
  return text;
}

type Member = readonly [name: string, value: unknown];

/**
 * Compares members by the order in which PostgreSQL's jsonb stores them: by the length of the name in bytes, then by its bytes.
 */
function byJsonbOrder([a]: Member, [b]: Member): number {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length - right.length || left.compare(right);
}

/**
 * Returns the object with its members in the order of jsonb, except that JavaScript moves names such as "10" to the front.
 * `stringifyJson` corrects their order.
 */
export function inJsonbOrder<T extends object>(value: T): T {
  // The type holds, because the entries are those of the same object.
  return Object.fromEntries(Object.entries(value).sort(byJsonbOrder)) as T;
}

const INDEX_NAME = /"\d+":/;

/**
 * Does what JSON.stringify does, except that it writes an object with a name such as "10" in the order of jsonb. JavaScript moves
 * such names to the front of every object.
 */
export function stringifyJson(value: unknown): string {
  const text = JSON.stringify(value);
  return INDEX_NAME.test(text) ? stringifyInOrder(value) : text;
}

function stringifyInOrder(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(stringifyInOrder).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.some(([name]) => /^\d+$/.test(name))) members.sort(byJsonbOrder);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${stringifyInOrder(member)}`).join(',')}}`;
}
