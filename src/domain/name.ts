import { createHash } from 'node:crypto';
import { invalidField } from './errors.ts';

// The rule for every name that people enter and others read in lists, mails, the audit log and terminals.

/** The lengths of names in code points, like the lengths of the columns. */
export const MAX_CHARACTERS = { person: 200, organization: 200, integration: 200, key: 100 };

/** Line breaks, control characters (PostgreSQL refuses NUL, a terminal obeys ESC), lone surrogates and bidirectional controls. */
const HARMFUL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
/** Letters and symbols that look like a blank: Hangul fillers and the empty Braille pattern. */
const BLANK = /[\u115f\u1160\u3164\uffa0\u2800]/gu;
/** Invisible: zero-width spaces and joiners, soft hyphens. They are allowed, because emoji and Persian words need some. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
/** A whole API key or most of one. The prefix that lists show is allowed. */
const KEY = /charter_(live|test)_([a-z0-9]{1,12}_)?[0-9a-z]{20,}/i;

/** The name in the form in which it is stored: NFC, trimmed. Throws an error for `field`. */
export function parseName(
  text: string,
  { kind, field = 'name' }: { kind: keyof typeof MAX_CHARACTERS; field?: string },
): string {
  const name = text.normalize('NFC').trim();
  const look = lookOf(name);
  if (HARMFUL.test(name))
    throw invalidField(
      field,
      'must not contain line breaks, control characters or marks that change the text direction. Type it instead of pasting it.',
    );
  if (KEY.test(look))
    throw invalidField(field, 'must not contain an API key, because other people can see the name. Use a description.');
  if (!VISIBLE.test(look)) throw invalidField(field, 'must not be blank.');
  const characters = [...name].length;
  if (characters > MAX_CHARACTERS[kind])
    throw invalidField(field, `must be at most ${MAX_CHARACTERS[kind]} characters long; it has ${characters}.`);
  return name;
}

/** A text of several lines that people enter, in the form in which it is stored; it may be blank. Throws an error for `field`. */
export function parseText(text: string, { field, maxCharacters }: { field: string; maxCharacters: number }): string {
  const stored = text.replaceAll('\r\n', '\n').normalize('NFC').trim();
  if (HARMFUL.test(stored.replaceAll('\n', ' ')))
    throw invalidField(field, 'must not contain control characters or marks that change the text direction.');
  if (KEY.test(lookOf(stored)))
    throw invalidField(field, 'must not contain an API key, because other people can see it.');
  const characters = [...stored].length;
  if (characters > maxCharacters)
    throw invalidField(field, `must be at most ${maxCharacters} characters long; it has ${characters}.`);
  return stored;
}

/** The text without invisible characters, and with one kind of blank. */
function lookOf(name: string): string {
  return name.normalize('NFC').replace(BLANK, ' ').replace(INVISIBLE, '').replace(/\s+/gu, ' ').trim();
}

/** A search text in the form in which names are stored, cut to a length. Without NUL, which PostgreSQL refuses. */
export function searchText(text: string, maxCharacters: number): string {
  return [...text.replaceAll('\0', '').normalize('NFC').trim()].slice(0, maxCharacters).join('');
}

/**
 * SHA-256 of the name in a normalized form. Equal for names that differ only in letter case, blanks, invisible characters or
 * compatibility variants such as full-width letters (NFKC).
 */
export function nameKeyOf(name: string): Buffer<ArrayBuffer> {
  // Upper case first: it unites letters that lower case alone keeps apart, such as "ß" and "SS".
  const form = lookOf(lookOf(name).normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC'));
  return createHash('sha256').update(form).digest();
}
