import type { Direction } from './rules.ts';

// A pattern cannot be compared with another one in general. These are the patterns that were written anew so that every
// language compiles them, although the requests that the server accepts and the values that it sends stayed the same. Remove
// a pair when the version with its new pattern has been published.

type Rewritten = {
  readonly before: string;
  /** `undefined` for no pattern. */
  readonly after: string | undefined;
  readonly direction?: Direction;
};

const REWRITTEN: readonly Rewritten[] = [
  // The description of the API excludes these characters from every text, once for all.
  { before: String.raw`^[^\u0000\uD800-\uDFFF]*$`, after: undefined },
  { before: String.raw`^\s*[^\s\u0000\uD800-\uDFFF][^\u0000\uD800-\uDFFF]*$`, after: String.raw`\S` },
  // Requests for a blank text are still refused, so none is sent.
  {
    before: String.raw`^\s*[^\s\u0000\uD800-\uDFFF][^\u0000\uD800-\uDFFF]*$`,
    after: undefined,
    direction: 'response',
  },
  // A signature is "v1," and base64.
  {
    before: String.raw`^[^\s,]+,\S+( [^\s,]+,\S+)*$`,
    after: '^[0-9A-Za-z]+,[0-9A-Za-z+/=]+( [0-9A-Za-z]+,[0-9A-Za-z+/=]+)*$',
    direction: 'response',
  },
];

/** Whether the second pattern has the meaning of the first one: it spells the same, or is listed above. */
export function isRewritten(before: unknown, after: unknown, direction: Direction): boolean {
  if (typeof before !== 'string') return false;
  if (spelledOut(before) === after) return true;
  return REWRITTEN.some(
    (pair) => pair.before === before && pair.after === after && (pair.direction ?? direction) === direction,
  );
}

/** In ECMA 262, `\d` is `[0-9]`, and `\x21` is "!". */
function spelledOut(pattern: string): string {
  return pattern
    .replaceAll(String.raw`\d`, '[0-9]')
    .replaceAll(/\\x([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
