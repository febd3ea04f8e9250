/** The largest difference between the clocks of a provider and of Charter that is tolerated. */
export const CLOCK_SECONDS = 30;

/** A request that a client library sends. The body can only be a string. */
export type ProviderRequest = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
};

/**
 * Sends a request if the rules for outgoing connections allow it. Throws a ProviderUnreachableError otherwise, or if there is no
 * response.
 */
export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<Response>;

/** How Charter reaches identity providers and DNS. */
export type ProviderAccess = {
  readonly fetch: ProviderFetch;
  /** Returns the TXT records of a DNS name, or an empty array if the name does not exist. Throws if the DNS query fails. */
  readonly resolveTxt: (name: string) => Promise<string[]>;
  /** Whether providers may be reached by http://. */
  readonly allowHttp: boolean;
};

/**
 * The provider sent no response, or a response that is too large. The message is shown to administrators, and must not contain an
 * address.
 */
export class ProviderUnreachableError extends Error {
  constructor(words: string) {
    super(words);
    this.name = 'ProviderUnreachableError';
  }
}
