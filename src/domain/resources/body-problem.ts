/** Why raw-body could not read the body of a request; `undefined` if that is not the client's fault. */
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
