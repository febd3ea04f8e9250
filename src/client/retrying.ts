// When a request may be retried, and how long to wait before that.

/** Request timeout, and too many requests. */
const NOT_EXECUTED = new Set([408, 429]);
/** 502 and 504 come from a proxy. None of them means that the request was wrong. */
const TEMPORARY = new Set([...NOT_EXECUTED, 502, 503, 504]);

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

export function isTemporary(status: number): boolean {
  return TEMPORARY.has(status);
}

/** Such a request was refused before anything was done for it, so that even a creation can be sent again. */
export function isNotExecuted(status: number): boolean {
  return NOT_EXECUTED.has(status);
}

/**
 * Whether sending the request twice has the same effect as sending it once, whether or not the first one succeeded.
 *
 * - GET, PUT and DELETE are idempotent (RFC 9110 section 9.2.2).
 * - PATCH is not (RFC 5789): a late second one could undo another client's change, unless `If-Match` names the version to
 *   change. `*` names none.
 * - POST is not, unless both have the same `Idempotency-Key`.
 */
export function isSafeToRepeat({ method, headers }: Pick<Request, 'method' | 'headers'>): boolean {
  switch (method) {
    case 'GET':
    case 'PUT':
    case 'DELETE':
      return true;
    case 'PATCH':
      return (headers.get('If-Match') ?? '*').trim() !== '*';
    case 'POST':
      return headers.has('Idempotency-Key');
    default:
      return false;
  }
}

/**
 * The wait before the next try: `Retry-After`, or an exponential back-off. `random`, from 0 to 1, adds jitter, so that
 * clients that fail together do not retry together. `headers` are those of the response, if there was one.
 */
export function waitMsAfter({ tries, headers, random }: Tried): number {
  const asked = headers === undefined ? undefined : retryAfterMs(headers);
  if (asked !== undefined) return asked + random * FIRST_WAIT_MS;
  return Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS) * (0.5 + random / 2);
}

type Tried = { readonly tries: number; readonly headers: Headers | undefined; readonly random: number };

/** Seconds, or a date, which is compared with the `Date` header if there is one (RFC 9110 section 10.2.3). */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // `Date.parse` alone accepts nearly anything: "-1" is a day in 2001.
  const at = / GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  const now = Date.parse(headers.get('Date') ?? '');
  return Math.max(0, at - (Number.isNaN(now) ? Date.now() : now));
}
