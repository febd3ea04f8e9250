/** Printable characters, except those with a meaning in a mail header or an address list. */
const EMAIL = /^[^\s@<>()",:;\\[\]\p{C}]+@[^\s@<>()",:;\\[\]\p{C}]+\.[^\s@<>()",:;\\[\]\p{C}]+$/u;

/** The form in which an e-mail is stored and compared: trimmed, lower case. Null: not an e-mail address of at most 254 characters. */
export function normalEmail(text: string): string | null {
  const email = text.trim().normalize('NFC').toLowerCase();
  return email.length <= 254 && EMAIL.test(email) ? email : null;
}
