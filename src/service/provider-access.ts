/** How far the clocks of a provider and of Charter may differ. */
export const CLOCK_SECONDS = 30;

/** The request of a client library, which sends text only. */
export type ProviderRequest = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
};

/** Sends a request that the rules for outgoing connections allow. Throws a ProviderUnreachableError. */
export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<Response>;

/** How Charter reaches identity providers and DNS. */
export type ProviderAccess = {
  readonly fetch: ProviderFetch;
  /** The TXT records of a name; none if it does not exist. Throws if DNS fails. */
  readonly resolveTxt: (name: string) => Promise<string[]>;
  /** Whether providers may be reached by http://. */
  readonly allowHttp: boolean;
};

/** There was no response, or one that is too large. The message is shown to administrators, and names no address. */
export class ProviderUnreachableError extends Error {
  constructor(words: string) {
    super(words);
    this.name = 'ProviderUnreachableError';
  }
}
