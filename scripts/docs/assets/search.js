// Finds the places in the documentation that answer a query. The build puts the index after this script.

/**
 * The weights of a word in the title of a place; in a phrase by which readers know the place, such as a question or an operationId;
 * in the first words and the text beside the title; and in the other text.
 */
const TITLE = 1;
const PHRASE = 0.6;
const LEAD = 0.45;
const TEXT = 0.3;
/** The qualities of a word that a place has instead of the word in the query. */
const EXACT = 1;
const BEGINNING = 0.6;
const SIMILAR = 0.5;
const MAX_RESULTS = 12;

/** Matches a verb and its particle, such as "set up" and "log-in", which others write as one word. */
const PHRASAL = /\b(back|clean|hand|log|look|roll|set|shut|sign|start|time)[ -](back|down|in|off|on|out|over|up)\b/gi;

/** The stems that have been found, by the word. */
const STEMS = new Map();

/** Words that occur in many queries and say little about what the reader is looking for. */
const COMMON_WORDS = new Set(
  stemsOf(
    'a about actually all already also am an and any api arent are as at be been but by call can cant charter could couldnt did do does doesnt dont ever exactly find for from get getting had happen has have he her his how i if in into is isnt it its just know like made make may me mean more much must my need never no not now of on one only or other our out own please possible really result same she should show so some something still take than that the their them then there these they this those through to too up us use used using very via vs want was way we were what when where whether which while who why will with without work would wrong yet you your',
  ),
);
const COMMON = 0.4;

/** Returns the words of a text without their endings. The parts of an identifier are words of their own. */
function stemsOf(text) {
  const joined = text.replace(/['’]/g, '').replace(PHRASAL, '$1$2');
  const words = joined.match(/\p{Lu}*[\p{Ll}\p{Lo}\p{N}]+|\p{Lu}+/gu) ?? [];
  return [...new Set(words.map(stemOf))];
}

/** Returns the stem of a word, such as "authentic" for authenticate and authentication. A word of four or more letters keeps at least three. */
function stemOf(word) {
  if (!STEMS.has(word)) STEMS.set(word, withoutEnding(word.toLowerCase()));
  return STEMS.get(word);
}

function withoutEnding(word) {
  if (word.length < 4 || /\d/.test(word)) return word;
  return (
    word
      .replace(/(?<=..)(ies|ied)$/, 'y')
      .replace(/(?<=...)(ing|ed|(?<![su])s)$/, '')
      // "stopped" and "logging" have the stems of "stop" and "log".
      .replace(/(?<=..)([bdgmnprt])\1$/, '$1')
      .replace(/(?<=...)((?<=if)ic)?(ation|ate|at|ion)$/, '')
      .replace(/(?<=....)ly$|(?<=...)[ey]$/, '')
  );
}

/**
 * Returns whether two words differ in one place only: by at most a quarter of the shorter word, or by two letters in the wrong
 * order.
 */
function isSimilar(one, other) {
  const [short, long] = [one, other].sort((a, b) => a.length - b.length);
  let start = 0;
  while (start < short.length && short[start] === long[start]) start += 1;
  let end = 0;
  while (end < short.length - start && short.at(-1 - end) === long.at(-1 - end)) end += 1;
  const [left, right] = [short, long].map((word) => word.slice(start, word.length - end));
  return right.length <= short.length / 4 || (right.length === 2 && left === `${right[1]}${right[0]}`);
}

/** Opens the search of an index: the places in the documentation, each with the questions that the place answers. */
globalThis.openSiteSearch = (rows) => {
  const places = rows.map(([kind, title, where, name, anchor, text, weight, asked = '']) => {
    const addresses = kind === 'operation' || kind === 'webhook' ? where.split(' · ') : [];
    const phrases = [title, ...addresses, ...asked.split('|')].map(stemsOf);
    const [lead, rest = ''] = text.split('\n');
    const strengths = new Map();
    // A word in several fields has the greatest of their weights, which comes last.
    for (const word of stemsOf(rest)) strengths.set(word, TEXT);
    for (const word of stemsOf(`${where} ${lead}`)) strengths.set(word, LEAD);
    for (const word of phrases.flat()) strengths.set(word, PHRASE);
    for (const word of phrases[0]) strengths.set(word, TITLE);
    const entry = { kind, title, where, name, anchor, text };
    return { entry, weight, phrases, strengths };
  });
  /** The weight of each word. It is greater the fewer places contain the word. */
  const rarities = new Map();
  for (const { strengths } of places)
    for (const word of strengths.keys()) rarities.set(word, 1 + (rarities.get(word) ?? 0));
  for (const [word, count] of rarities)
    rarities.set(word, Math.log(1 + places.length / (1 + count)) * (COMMON_WORDS.has(word) ? COMMON : 1));

  /** Returns the words of the places that a word of the query can mean, with the quality of each, and the weight of the word. */
  function meaningOf(word) {
    const isKnown = rarities.has(word);
    const terms = new Map();
    for (const term of rarities.keys()) {
      if (term === word) terms.set(term, EXACT);
      else if (word.length > 2 && term.startsWith(word)) terms.set(term, BEGINNING);
      // A word that occurs on the pages is not a misspelling of another word.
      else if (!isKnown && word.length > 4 && isSimilar(word, term)) terms.set(term, SIMILAR);
    }
    return { terms, weight: Math.max(...[...(isKnown ? [word] : terms.keys())].map((term) => rarities.get(term))) };
  }

  /** Returns the best results, the best one first. */
  function find(query) {
    const words = stemsOf(query)
      .map(meaningOf)
      .filter(({ terms }) => terms.size > 0);
    const total = sumOf(words, ({ weight }) => weight);
    const scored = places.map(({ entry, weight, phrases, strengths }) => {
      const covered = sumOf(
        words,
        (word) => word.weight * bestOf(word.terms, ([term, quality]) => quality * strengths.get(term)),
      );
      return [entry, (covered / total + bestOf(phrases, (phrase) => matchOf(phrase, words, total))) * weight];
    });
    const sorted = scored.filter(([, score]) => score > 0).sort(([, one], [, other]) => other - one);
    const best = sorted[0]?.[1] ?? 0;
    // The high score of a place whose question matches does not hide the other results.
    return sorted
      .filter(([, score]) => score > Math.min(best, 1) / 3)
      .slice(0, MAX_RESULTS)
      .map(([entry]) => entry);
  }

  /** Returns how well a phrase matches a query: 1 if each has all words of the other. */
  function matchOf(phrase, words, total) {
    if (!phrase.some((term) => words.some(({ terms }) => terms.has(term)))) return 0;
    const asked = sumOf(words, ({ terms, weight }) => weight * bestOf(phrase, (term) => terms.get(term)));
    const said = sumOf(phrase, (term) => rarities.get(term) * bestOf(words, ({ terms }) => terms.get(term)));
    return (asked / total) * (said / sumOf(phrase, (term) => rarities.get(term))) ** 0.7;
  }

  return { find };
};

function sumOf(items, of) {
  let sum = 0;
  for (const item of items) sum += of(item);
  return sum;
}

/** Returns the greatest number that `of` returns for an item, or 0. */
function bestOf(items, of) {
  let best = 0;
  for (const item of items) {
    const value = of(item);
    if (value > best) best = value;
  }
  return best;
}
