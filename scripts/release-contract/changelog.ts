// The changelog of the contract, for its integrators.
import type { Change } from '../contract-diff/findings.ts';
import type { Verdict } from '../contract-diff/rules.ts';
import { type Version, written } from './version.ts';

export const TITLES: Readonly<Record<Verdict, string>> = {
  breaking: 'Breaking',
  additive: 'Additive',
  words: 'Wording',
};

const HEAD = `# Changelog of the contract

All published versions of the contract, newest first. Breaking changes increase the major number, additive changes the
minor number, and changes of wording the patch number. \`npm run release-contract\` writes this file and
\`openapi/released/\`.
`;

type Entry = { readonly version: Version; readonly date: Date; readonly changes: readonly Change[] };

/** Adds the entry on top. Replaces an entry of the same version, which an interrupted release may have left. */
export function withEntry(changelog: string, entry: Entry): string {
  const [, ...entries] = changelog.split(/^(?=## )/m);
  const others = entries.filter((other) => !other.startsWith(`## ${written(entry.version)} `));
  return [HEAD, rendered(entry), ...others].map((part) => `${part.trim()}\n`).join('\n');
}

function rendered({ version, date, changes }: Entry): string {
  const title = `## ${written(version)} - ${date.toISOString().slice(0, 10)}\n`;
  if (changes.length === 0) return `${title}\nThe first version.\n`;
  const groups = Object.entries(TITLES).flatMap(([verdict, name]) => {
    const lines = changes.filter((change) => change.verdict === verdict).map(lineOf);
    return lines.length === 0 ? [] : [`### ${name}\n\n${lines.join('\n')}\n`];
  });
  return [title, ...groups].join('\n');
}

function lineOf({ place, words, why }: Change): string {
  return `- ${codeSpan(`${place}: ${words}`)}${why === '' ? '' : ` ${why}`}`;
}

/** The fence is longer than any run of backticks in the text, so that the text is never read as Markdown. */
function codeSpan(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}
