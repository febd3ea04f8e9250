/** Letters whose folding is not the lower case of their upper case: Cherokee is folded to capitals. */
const CHEROKEE = /[\u13a0-\u13ff\uab70-\uabbf]/;
const DOTLESS_I = 'ı';

/**
 * The form in which searches compare texts, without differences of letter case and of normal forms: NFC(toCasefold(NFD(text))),
 * with the full default case folding of Unicode. The server has it in SQL ("search_form" in prisma/migrations).
 */
export function searchFormOf(text: string): string {
  return Array.from(text.normalize('NFD'), foldingOf).join('').normalize('NFC');
}

function foldingOf(character: string): string {
  if (character === DOTLESS_I) return character;
  if (CHEROKEE.test(character)) return character.toUpperCase();
  // Lower case first, because the capital sharp s is its own upper case.
  return character.toLowerCase().toUpperCase().toLowerCase();
}
