/** Why raw-body could not read the body of a request. Undefined: for a reason that is no fault of the client. */
export function bodyProblemOf(error: unknown): 'too large' | 'incomplete' | undefined {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  switch (type) {
    case 'entity.too.large':
      return 'too large';
    case 'request.aborted':
    case 'request.size.invalid':
    // The client had gone before the body was read.
    case 'stream.not.readable':
      return 'incomplete';
    default:
      return undefined;
  }
}
