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

type Rates = { readonly perKey: number; readonly perOrganization: number };
type Texts = {
  readonly policy: string;
  /** Made in advance: capturing a stack takes longer than the rest of a refusal. */
  readonly refusals: Readonly<Record<Admission['closest'], RateLimitedError>>;
};

/** By pair of limits. There are few pairs: that of the configuration, and those set for single organizations. */
const known = new Map<string, Texts>();
let last: { readonly rates: Rates; readonly texts: Texts } | undefined;

function textsOf(rates: Rates): Texts {
  if (last?.rates.perKey === rates.perKey && last.rates.perOrganization === rates.perOrganization) return last.texts;
  const name = `${rates.perKey} ${rates.perOrganization}`;
  const texts = known.get(name) ?? describe(rates);
  known.set(name, texts);
  last = { rates, texts };
  return texts;
}

const WAIT = 'Wait for the number of seconds in Retry-After, then send fewer.';

function describe({ perKey, perOrganization }: Rates): Texts {
  const policies = [
    { name: 'key', rate: perKey },
    { name: 'organization', rate: perOrganization },
  ].filter(({ rate }) => rate > 0);
  const perSecond = (rate: number) => `${formatCount(rate, 'request')} per second`;
  return {
    policy: policies.map(({ name, rate }) => `"${name}";q=${rate};w=1`).join(', '),
    refusals: {
      key: new RateLimitedError(`This API key can send ${perSecond(perKey)}. ${WAIT}`, 1),
      organization: new RateLimitedError(
        `All API keys of your organization together can send ${perSecond(perOrganization)}. ${WAIT}`,
        1,
      ),
    },
  };
}

export const TOO_MANY_WITHOUT_KEY = new RateLimitedError(
  'Too many requests without a valid API key come from your address. Correct the key, and wait for the number of seconds in Retry-After.',
  1,
);
