/** A problem that the operator must fix before Charter can start; `remedy` says how. Neither text contains a password. */
export class StartUpError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartUpError';
    this.remedy = remedy;
  }
}
