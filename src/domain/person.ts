/** Printable, without what a mail header or an address list would read as its own. */
const EMAIL = /^[^\s@<>()",:;\\[\]\p{C}]+@[^\s@<>()",:;\\[\]\p{C}]+\.[^\s@<>()",:;\\[\]\p{C}]+$/u;

/** As it is stored and compared: "Mei@Example.org " is mei@example.org. Null: not an e-mail address of at most 254 characters. */
export function normalEmail(text: string): string | null {
  const email = text.trim().normalize('NFC').toLowerCase();
  return email.length <= 254 && EMAIL.test(email) ? email : null;
}
