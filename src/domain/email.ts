/** Printable characters, except those with a meaning in a mail header or an address list. */
const EMAIL = /^[^\s@<>()",:;\\[\]\p{C}]+@[^\s@<>()",:;\\[\]\p{C}]+\.[^\s@<>()",:;\\[\]\p{C}]+$/u;

/**
 * Returns an e-mail address in the form in which it is stored and compared: trimmed and in lower case, at most 254 characters.
 * Returns `null` if the text is not an e-mail address.
 */
export function normalEmail(text: string): string | null {
  const email = text.trim().normalize('NFC').toLowerCase();
  return email.length <= 254 && EMAIL.test(email) ? email : null;
}
