import { searchFormOf } from '../../scripts/mock/list-page.ts';
import { useDatabase } from '../support/postgres/store.ts';

const { db } = await useDatabase();

/** Returns texts that together contain every code point from `first` to `last` that PostgreSQL and JavaScript can both store. */
function textsOf(first: number, last: number, perText: number): string[] {
  const texts: string[] = [];
  for (let start = first; start <= last; start += perText) {
    const codes = Array.from({ length: Math.min(perText, last - start + 1) }, (_, i) => start + i);
    texts.push(String.fromCodePoint(...codes.filter((code) => code < 0xd800 || code > 0xdfff)));
  }
  return texts.filter((text) => text !== '');
}

async function formsInSql(texts: readonly string[]): Promise<string[]> {
  const text =
    'select search_form(given) as form from unnest($1::text[]) with ordinality as given (given, place) order by place';
  return (await db.pool.query<{ form: string }>(text, [texts])).rows.map(({ form }) => form);
}

test('server and mock fold and normalize every code point alike', async () => {
  // Each code point of planes 0 and 1 is a text of its own. The other planes have no letters with a case, so 4096 code points can
  // share a text.
  const texts = [...textsOf(1, 0x1ffff, 1), ...textsOf(0x20000, 0x10ffff, 4096)];
  const forms = await formsInSql(texts);
  expect(texts.filter((text, i) => forms[i] !== searchFormOf(text))).toEqual([]);
});

test('a text has the same form in each normal form and letter case, and the form of a form is itself', async () => {
  const texts = [
    'Ἀρχὴ ᾳ\u0301 ᾴ ΐ ǰ ẞß ﬃ İ ſ\u0307 K',
    'Ộ Ǘ 각 क़ \u0345\u0301',
    '\u1100\u1161\u11a8 a\u0327\u0301 A\u0301\u0327',
  ];
  for (const text of texts) {
    const composed = text.normalize('NFC');
    const variants = ['NFC', 'NFD'].flatMap((form) =>
      [composed, composed.toUpperCase()].map((each) => each.normalize(form)),
    );
    const forms = await formsInSql([...variants, searchFormOf(text)]);
    expect(new Set(forms)).toEqual(new Set([searchFormOf(text)]));
  }
});
