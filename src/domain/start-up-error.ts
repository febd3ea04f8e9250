/**
 * Something that the operator must mend before Charter can start; `remedy` tells how. Neither ever holds a password.
 */
export class StartUpError extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartUpError';
    this.remedy = remedy;
  }
}
