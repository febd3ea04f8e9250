// When a request may be sent again, and how long to wait before.

/** 429 is a limit's; 502 and 504 come from a proxy in front. None of them says that anything was wrong with the request. */
const TEMPORARY = new Set([429, 502, 503, 504]);

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

export function isTemporary(status: number): boolean {
  return TEMPORARY.has(status);
}

/**
 * Whether sending it twice does no more than sending it once, whatever became of the first.
 *
 * - GET and DELETE are idempotent (RFC 9110 section 9.2.2).
 * - PATCH is not (RFC 5789), and a late second one could undo what somebody else changed in between, unless `If-Match`
 *   names the version to change. `*` names none.
 * - POST is not, unless an `Idempotency-Key` says that both are one.
 */
export function isSafeToRepeat({ method, headers }: Pick<Request, 'method' | 'headers'>): boolean {
  switch (method) {
    case 'GET':
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
 * How long to wait after so many tries: what `Retry-After` says, else twice as long each time. `random`, from 0 to 1,
 * spreads out the many clients that fail at the same moment. `headers` are those of an answer, if there was one.
 */
export function waitMsAfter({ tries, headers, random }: Tried): number {
  const asked = headers === undefined ? undefined : retryAfterMs(headers);
  if (asked !== undefined) return asked + random * FIRST_WAIT_MS;
  return Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS) * (0.5 + random / 2);
}

type Tried = { readonly tries: number; readonly headers: Headers | undefined; readonly random: number };

/** RFC 9110 section 10.2.3: seconds, or a date, which is held against the server's own clock where it tells it. */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // `Date.parse` alone takes nearly anything: "-1" is a day in 2001.
  const at = / GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  const now = Date.parse(headers.get('Date') ?? '');
  return Math.max(0, at - (Number.isNaN(now) ? Date.now() : now));
}
