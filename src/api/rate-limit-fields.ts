import { RateLimitedError } from '../domain/errors.ts';
import { formatCount } from '../domain/format.ts';
import type { Admission } from '../traffic/request-limiter.ts';
import type { ApiRequest } from './api-request.ts';

/** Sets the fields of the response (draft-ietf-httpapi-ratelimit-headers-11). Throws if the limit refuses the request. */
export function applyAdmission(request: ApiRequest, admission: Admission): void {
  const { isAdmitted, limits, closest, remaining, retryAfterSeconds = 1 } = admission;
  const texts = textsOf(limits);
  request.rateLimitFields = ['RateLimit-Policy', texts.policy, 'RateLimit', `"${closest}";r=${remaining};t=1`];
  if (isAdmitted) return;
  const refusal = texts.refusals[closest];
  // Only after a batch does a bucket hold no token for longer, because every limit is at least one request per second.
  throw retryAfterSeconds === 1 ? refusal : new RateLimitedError(refusal.message, retryAfterSeconds);
}

/** `isOwn`: the limit of the key is one of its own, below that of its organization. */
type Rates = { readonly perKey: number; readonly perOrganization: number; readonly isOwn: boolean };
type Texts = {
  readonly policy: string;
  /** Made in advance: capturing a stack takes longer than the rest of a refusal. */
  readonly refusals: Readonly<Record<Admission['closest'], RateLimitedError>>;
};

/** By limits. There are few: those of the configuration, those set for single organizations, and keys' own. */
const known = new Map<string, Texts>();
const MAX_KNOWN = 1000;
let last: { readonly rates: Rates; readonly texts: Texts } | undefined;

function textsOf(rates: Rates): Texts {
  const { perKey, perOrganization, isOwn } = rates;
  if (last?.rates.perKey === perKey && last.rates.perOrganization === perOrganization && last.rates.isOwn === isOwn)
    return last.texts;
  const name = `${perKey} ${perOrganization} ${isOwn}`;
  const texts = known.get(name) ?? describe(rates);
  if (known.size >= MAX_KNOWN && !known.has(name)) known.clear();
  known.set(name, texts);
  last = { rates, texts };
  return texts;
}

const WAIT = 'Wait for the number of seconds in Retry-After, then send fewer.';

function describe({ perKey, perOrganization, isOwn }: Rates): Texts {
  const policies = [
    { name: 'key', rate: perKey },
    { name: 'organization', rate: perOrganization },
  ].filter(({ rate }) => rate > 0);
  const perSecond = (rate: number) => `${formatCount(rate, 'request')} per second`;
  return {
    policy: policies.map(({ name, rate }) => `"${name}";q=${rate};w=1`).join(', '),
    refusals: {
      key: new RateLimitedError(
        isOwn
          ? `This API key has a limit of its own: it can send ${perSecond(perKey)}. ${WAIT}`
          : `This API key can send ${perSecond(perKey)}. ${WAIT}`,
        1,
      ),
      organization: new RateLimitedError(
        `All API keys of your organization together can send ${perSecond(perOrganization)}. ${WAIT}`,
        1,
      ),
    },
  };
}

export const TOO_MANY_FROM_FORBIDDEN_ADDRESS = new RateLimitedError(
  'Too many requests come from your address with an API key that may not be used from it. Use an allowed address, and wait for the number of seconds in Retry-After.',
  1,
);

export const TOO_MANY_WITHOUT_KEY = new RateLimitedError(
  'Too many requests without a valid API key come from your address. Correct the key, and wait for the number of seconds in Retry-After.',
  1,
);
