/** A request that was not readable HTTP, or did not arrive in time. `code`: Node's, of the error. */
export type UnreadableRequest = {
  readonly requestId: string;
  readonly status: number;
  readonly code: string | undefined;
};
