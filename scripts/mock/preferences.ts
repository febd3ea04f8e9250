// Reads the header Prefer (RFC 7240): `Prefer: code=503, delay=2000`.

export type Preferences = {
  /** A preference is `undefined` if it was not sent. They are checked against the operation elsewhere. */
  readonly code: string | undefined;
  readonly example: string | undefined;
  /** Generated data rather than the contract's examples; `undefined` for what the mock was started with. */
  readonly dynamic: boolean | undefined;
  readonly delayMs: number;
  /** The preferences that the mock applies, as Preference-Applied lists them, but for `code` and `example`. */
  readonly applied: readonly string[];
  /** A sentence for each preference that it does not apply. They quote names, and no other text of the client. */
  readonly warnings: readonly string[];
};

export const MAX_DELAY_MS = 30_000;
const KNOWN_PREFERENCES = 'code, example, dynamic, delay and wait';

/** They go into a header. */
const MAX_WARNINGS = 10;

type Reading = {
  code?: string;
  example?: string;
  dynamic?: boolean;
  delayMs?: number | undefined;
  waitMs?: number;
};

export function readPreferences(header: string | string[] | undefined): Preferences {
  const { values, warnings } = split([header ?? []].flat().join(','));
  const reading: Reading = {};
  for (const [name, value] of values) {
    const problem = read(name, value, reading);
    if (problem !== undefined) warnings.push(problem);
  }
  const { code, example, dynamic, delayMs = 0, waitMs } = reading;
  const isInTime = waitMs !== undefined && delayMs <= waitMs;
  if (waitMs !== undefined && !isInTime) warnings.push('Prefer: wait is shorter than delay, so it is not met.');
  const applied = [
    ...(dynamic === undefined ? [] : [`dynamic=${dynamic}`]),
    ...(delayMs === 0 ? [] : [`delay=${delayMs}`]),
    ...(isInTime ? [`wait=${waitMs / 1000}`] : []),
  ];
  return { code, example, dynamic, delayMs, applied, warnings: [...new Set(warnings)].slice(0, MAX_WARNINGS) };
}

/** The first of two equal preferences counts, and names are case-insensitive (RFC 7240 section 2). */
function split(header: string): { values: Map<string, string>; warnings: string[] } {
  const values = new Map<string, string>();
  const warnings: string[] = [];
  for (const text of header.split(/[,;]/)) {
    if (text.trim() === '') continue;
    const [, name, value = ''] = /^\s*([\w-]{1,40})\s*(?:=\s*"?([^"]*?)"?\s*)?$/.exec(text) ?? [];
    if (name === undefined) warnings.push('Prefer has a preference that is not readable. Write name=value.');
    else if (values.has(name.toLowerCase())) warnings.push(`Prefer: only the first ${name} counts.`);
    else values.set(name.toLowerCase(), value);
  }
  return { values, warnings };
}

/** Returns a sentence about a preference that cannot be applied. */
function read(name: string, value: string, reading: Reading): string | undefined {
  switch (name) {
    case 'code':
    case 'example':
      reading[name] = value;
      return undefined;
    case 'dynamic':
      if (!/^(true|false|)$/.test(value)) return 'Prefer: dynamic is true or false.';
      reading.dynamic = value !== 'false';
      return undefined;
    case 'delay':
      reading.delayMs = millisecondsOf(value);
      if (reading.delayMs !== undefined) return undefined;
      return `Prefer: delay is a number of milliseconds up to ${MAX_DELAY_MS}, or of seconds, such as 2s.`;
    case 'wait':
      // RFC 7240 section 4.3: the seconds that the client is willing to wait.
      if (!/^\d{1,6}$/.test(value)) return 'Prefer: wait is a number of seconds.';
      reading.waitMs = Number(value) * 1000;
      return undefined;
    default:
      return `Prefer: this mock does not know ${name}. It knows ${KNOWN_PREFERENCES}.`;
  }
}

function millisecondsOf(value: string): number | undefined {
  const [, digits, unit] = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s)?$/.exec(value) ?? [];
  const milliseconds = Number(digits) * (unit === 's' ? 1000 : 1);
  return milliseconds <= MAX_DELAY_MS ? Math.round(milliseconds) : undefined;
}
