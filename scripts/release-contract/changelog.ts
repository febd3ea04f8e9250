// The changelog of the contract, for integrators.
import type { Change } from '../contract-diff/comparison.ts';
import type { Verdict } from '../contract-diff/rules.ts';
import { numberOf, type Version } from './decide.ts';

export const TITLES: Readonly<Record<Verdict, string>> = {
  breaking: 'Breaking',
  additive: 'Additive',
  words: 'Wording',
};

const HEAD = `# Changelog of the contract

All published versions of the contract, newest first. Breaking changes increase the major number, additive changes the
minor number, and changes of wording the patch number. [Versioning](guides/versioning.md) says what clients must handle.
`;

/** The number of places that are listed for each change. Further places are only counted. */
const LISTED_PLACES = 8;

type Entry = { readonly version: Version; readonly date: Date; readonly changes: readonly Change[] };

/** Adds the entry at the top. Replaces an entry of the same version, which an interrupted release may have left. */
export function withEntry(changelog: string, entry: Entry): string {
  const [, ...entries] = changelog.split(/^(?=## )/m);
  const others = entries.filter((other) => !other.startsWith(`## ${numberOf(entry.version)} `));
  return [HEAD, renderEntry(entry), ...others].map((part) => `${part.trim()}\n`).join('\n');
}

function renderEntry({ version, date, changes }: Entry): string {
  const title = `## ${numberOf(version)} - ${date.toISOString().slice(0, 10)}\n`;
  if (changes.length === 0) return `${title}\nThe first version.\n`;
  const groups = Object.entries(TITLES).flatMap(([verdict, name]) => {
    const ofVerdict = changes.filter((change) => change.verdict === verdict);
    if (ofVerdict.length === 0) return [];
    return [`### ${name}\n\n${verdict === 'words' ? wordingOf(ofVerdict) : sentencesOf(ofVerdict)}\n`];
  });
  return [title, ...groups].join('\n');
}

function wordingOf(changes: readonly Change[]): string {
  const places = new Set(changes.map(({ shortPlace }) => shortPlace)).size;
  return `Descriptions or examples changed in ${places === 1 ? 'one place' : `${places} places`}.`;
}

/** Returns one sentence for each kind of change, with the places where it occurs. */
function sentencesOf(changes: readonly Change[]): string {
  const kinds = Object.groupBy(changes, ({ words, why }) => JSON.stringify([words, why]));
  return Object.values(kinds).flatMap(sentenceOf).join('\n');
}

function sentenceOf(changes: readonly Change[] = []): string[] {
  const [first] = changes;
  if (first === undefined) return [];
  const places = [...new Set(changes.map(({ shortPlace }) => codeSpan(shortPlace)))];
  const more = places.length - LISTED_PLACES;
  const listed = more > 1 ? [...places.slice(0, LISTED_PLACES), `and ${more} more`] : places;
  const what = escapeMarkdown(`${first.words.slice(0, 1).toUpperCase()}${first.words.slice(1)}`);
  return [`- **${what}:** ${listed.join(', ')}.${first.why === '' ? '' : ` ${first.why}`}`];
}

/** Returns Markdown that shows the text literally. An underscore within a word needs no backslash. */
function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*[\]<>]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&').replaceAll(/\s+/g, ' ');
}

/**
 * Returns the text as a code span. The fence is longer than any run of backticks in the text, so that all of the text is code.
 */
function codeSpan(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}
