// Finds the places in the documentation that answer a query. The build puts MiniSearch before this script and the index after it.

/** The weights of a match in the title of a place, the text beside the title, the first words, and the remaining text. */
const FIELDS = { title: 1, where: 0.45, lead: 0.45, text: 0.3 };
const EXACT = 1;
const BEGINNING = 0.75;
const SIMILAR = 0.5;
const SYNONYM = 0.9;
/** The strengths of a place that the writers have chosen for a phrase: for most words of the query, and for fewer of them. */
const CHOSEN_FOR_MOST = 1.5;
const CHOSEN_FOR_FEWER = 1.2;
const MAX_RESULTS = 12;

const STOP_WORDS = new Set(
  'a about am an and any are as at be been by can could did do does doesn don for from getting had has have how i if in into is isn it its me my may must no not of on only or our out please should so that the their them then there these this those through to via was we were what when where which who why will with would you your'.split(
    ' ',
  ),
);
/** Words that occur in many queries and say little about what the reader is looking for. */
const WEAK_WORDS = new Set(
  stemsOf(
    'api charter get use using used make need want work find call way one all result know show happen possible take mean own without something wrong',
  ),
);
const WEAK = 0.3;

/** Returns the words of a text without their endings. An identifier counts as a word, and each of its parts does, too. */
function stemsOf(text) {
  const words = text.match(/[\p{L}\p{N}]+(?:[._-][\p{L}\p{N}]+)*/gu) ?? [];
  return words.flatMap((word) => {
    const parts = word.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ').split(/[ ._-]/);
    return parts.length === 1
      ? [stemOf(word.toLowerCase())]
      : [word.toLowerCase(), ...parts.map((part) => stemOf(part.toLowerCase()))];
  });
}

/** Returns the stem of a word, such as "authent" for authenticate, authenticated and authentication. */
function stemOf(word) {
  if (word.length < 4 || /\d/.test(word)) return word;
  const cut = (text, endings) => {
    const found = endings.find(([end, to]) => text.endsWith(end) && text.length - end.length + to.length >= 3);
    return found === undefined ? text : text.slice(0, text.length - found[0].length) + found[1];
  };
  const singular = cut(word, [
    ['ies', 'y'],
    ['ied', 'y'],
    ['ing', ''],
    ['ed', ''],
    ['ss', 'ss'],
    ['us', 'us'],
    ['s', ''],
  ]);
  // "stopped" and "logging" have the stems of "stop" and "log".
  const single = singular === word ? word : singular.replace(/([bdgmnprt])\1$/, '$1');
  const root = cut(single, [
    ['ification', 'if'],
    ['ication', 'ic'],
    ['icat', 'ic'],
    ['icate', 'ic'],
    ['ation', ''],
    ['ate', ''],
    ['at', ''],
    ['ion', ''],
  ]);
  return cut(root, [
    ['e', ''],
    ['y', ''],
  ]);
}

/**
 * Opens the search of an index. `entries` are places in the documentation. `synonyms` are words that do not occur on the pages,
 * each with its meaning.
 */
globalThis.openSiteSearch = ({ entries: rows, synonyms }) => {
  const entries = rows.map(([kind, title, where, name, anchor, text, weight], id) => {
    const [lead] = text.split('\n');
    return { id, kind, title, where, name, anchor, lead, text, weight };
  });
  const titles = entries.map(({ title }) => new Set(stemsOf(title).filter((word) => !STOP_WORDS.has(word))));
  const byPlace = Map.groupBy(entries, ({ name, anchor }) => `${name}${anchor}`);
  const isPlace = ({ written }) => written.some((meaning) => byPlace.has(meaning));
  // Longer phrases come first, and phrases that lead to a place come before those that stand for words.
  const spoken = [...Map.groupBy(synonyms, ([said]) => stemsOf(said).sort().join(' '))]
    .map(([said, meanings]) => ({ said: said.split(' '), written: meanings.map(([, written]) => written) }))
    .sort((a, b) => b.said.length - a.said.length || Number(isPlace(b)) - Number(isPlace(a)));
  const index = new globalThis.MiniSearch({
    fields: Object.keys(FIELDS),
    tokenize: stemsOf,
    processTerm: (word) => word,
  });
  index.addAll(entries);

  /** Returns the places that contain a word, with the strength of each match, and how rare the word is. */
  const lookUp = remembered((word) => {
    const found = index.search(word, {
      tokenize: (text) => [text],
      prefix: word.length > 2,
      fuzzy: word.length > 4 ? 0.2 : false,
    });
    const strengths = new Map();
    let isKnown = 0;
    for (const { id, match } of found) {
      let strength = 0;
      for (const [term, fields] of Object.entries(match)) {
        const quality = term === word ? EXACT : term.startsWith(word) ? BEGINNING : SIMILAR;
        if (term === word) isKnown += 1;
        for (const field of fields) strength = Math.max(strength, quality * weightOf(field, entries[id]));
      }
      strengths.set(id, strength);
    }
    // A word that occurs on the pages is not treated as a misspelling of another word.
    if (isKnown > 0)
      for (const [id, strength] of strengths)
        if (strength <= SIMILAR * FIELDS.title && !hasNearly(found, id, word)) strengths.delete(id);
    return { strengths, rarity: Math.log(1 + entries.length / (1 + (isKnown || found.length))) };
  });

  /**
   * Splits the query into phrases that have synonyms, and the remaining words without stop words. The words of a phrase can be in any
   * order, with one other word of the query between them.
   */
  function conceptsOf(query) {
    const words = stemsOf(query);
    const kept = words.filter((word) => !STOP_WORDS.has(word));
    const known = kept.length === 0 ? words : kept;
    const left = new Set(known);
    const phrases = spoken.flatMap(({ said, written }) => {
      const own = said.filter((word) => left.has(word));
      const places = own.map((word) => known.indexOf(word));
      const isThere = said.every((word) => words.includes(word) && (left.has(word) || STOP_WORDS.has(word)));
      if (!isThere || own.length === 0 || Math.max(...places) - Math.min(...places) > own.length) return [];
      for (const word of own) left.delete(word);
      return [{ own, written, isMost: own.length > known.length / 2 }];
    });
    return [...phrases, ...[...left].map((word) => ({ own: [word], written: [], isMost: false }))];
  }

  function strengthsOf({ own, written, isMost }) {
    const strengths = new Map();
    const raise = (id, strength) => strengths.set(id, Math.max(strength, strengths.get(id) ?? 0));
    const raiseByWords = (words, factor) => {
      const all = words.map((word) => lookUp(word).strengths);
      for (const id of new Set(all.flatMap((each) => [...each.keys()]))) {
        const found = all.map((each) => each.get(id) ?? 0);
        const part = found.filter((each) => each > 0).length / found.length;
        raise(id, (factor * part * found.reduce((sum, each) => sum + each, 0)) / found.length);
      }
    };
    raiseByWords(own, 1);
    for (const meaning of written) {
      const places = byPlace.get(meaning);
      if (places === undefined) raiseByWords(stemsOf(meaning), SYNONYM);
      else raise(places[0].id, isMost ? CHOSEN_FOR_MOST / places[0].weight : CHOSEN_FOR_FEWER);
    }
    return strengths;
  }

  /** Returns the best results, the best one first. */
  function find(query) {
    const concepts = conceptsOf(query).map((concept) => ({
      strengths: strengthsOf(concept),
      weight: concept.own.reduce((sum, word) => sum + lookUp(word).rarity * (WEAK_WORDS.has(word) ? WEAK : 1), 0),
      words: [...concept.own, ...concept.written.filter((each) => !byPlace.has(each)).flatMap(stemsOf)],
    }));
    const known = concepts.filter(({ strengths }) => strengths.size > 0);
    const total = known.reduce((sum, { weight }) => sum + weight, 0) || 1;
    const asked = new Set(known.flatMap(({ words }) => words));
    const plain = plainOf(query);
    const scores = new Map();
    for (const id of new Set(known.flatMap(({ strengths }) => [...strengths.keys()]))) {
      const entry = entries[id];
      const covered = known.reduce((sum, { strengths, weight }) => sum + weight * (strengths.get(id) ?? 0), 0) / total;
      const title = titles[id];
      const named = [...title].filter((word) => asked.has(word)).length / (title.size || 1);
      const isNamed = [entry.title, ...entry.where.split(' · ')].some((name) => plainOf(name) === plain);
      scores.set(id, (covered * (1 + 0.3 * named) + (isNamed ? 0.5 : 0)) * entry.weight);
    }
    const sorted = [...scores].sort(([a, one], [b, other]) => other - one || a - b);
    const [[, best] = [0, 0]] = sorted;
    // The high score of a place that the writers have chosen does not hide the other results.
    return sorted
      .filter(([, score]) => score > Math.min(best, 1) / 3)
      .slice(0, MAX_RESULTS)
      .map(([id]) => entries[id]);
  }

  return { find };
};

/**
 * Returns the weight of a field. It is higher for operations and webhooks, because readers also know these by their method, path
 * or operationId.
 */
function weightOf(field, { kind }) {
  return field === 'where' && (kind === 'operation' || kind === 'webhook') ? 0.9 : FIELDS[field];
}

/** Returns whether the place contains a word that begins with `word`. */
function hasNearly(found, id, word) {
  return Object.keys(found.find((each) => each.id === id).match).some((term) => term.startsWith(word));
}

function plainOf(text) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

function remembered(work) {
  const known = new Map();
  return (word) => {
    if (!known.has(word)) known.set(word, work(word));
    return known.get(word);
  };
}
