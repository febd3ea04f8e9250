const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** True of a UUID in the one form that we write; whatever else stands in a URL or a form is nobody's id. */
export function isId(text: string): boolean {
  return ID.test(text);
}
