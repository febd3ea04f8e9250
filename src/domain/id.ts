const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** True for a UUID in lower case with hyphens, the form of all our ids. */
export function isId(text: string): boolean {
  return ID.test(text);
}
