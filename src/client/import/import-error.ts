/** An error whose message tells the user what to do. `isMisuse`: nothing was read or sent. */
export class ImportError extends Error {
  readonly isMisuse: boolean;

  constructor(message: string, { isMisuse = false }: { isMisuse?: boolean } = {}) {
    super(message);
    this.isMisuse = isMisuse;
  }
}
