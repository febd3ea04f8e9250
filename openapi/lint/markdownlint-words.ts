// What markdownlint finds, in the words of whoever writes. A rule that is not here speaks for itself.

export type MarkdownFinding = {
  /** "MD001", "heading-increment". */
  readonly names: readonly string[];
  readonly description: string;
  readonly detail: string;
};

export function wordsForMarkdown({ names, description, detail }: MarkdownFinding): { words: string; remedy: string } {
  const known = KNOWN[names[0] ?? ''];
  if (known !== undefined) return known(detail);
  return { words: `${description}.`, remedy: detail === '' ? 'Compare with another page.' : `${detail}.` };
}

const KNOWN: Readonly<Record<string, (detail: string) => { words: string; remedy: string }>> = {
  MD001: (detail) => {
    const [, wanted = '', got = ''] = /h(\d).*h(\d)/.exec(detail) ?? [];
    return {
      words: `A heading of level ${got} stands where one of level ${wanted} belongs: no level may be skipped.`,
      remedy: `Begin it with ${'#'.repeat(Number(wanted))}.`,
    };
  },
  MD009: () => ({ words: 'There are spaces at the end of this line.', remedy: 'Take them out.' }),
  MD010: () => ({ words: 'A tab stands here.', remedy: 'Put spaces in its place.' }),
  MD012: () => ({ words: 'There are several empty lines.', remedy: 'Keep one.' }),
  MD013: (detail) => ({
    words: `This line is too long (${detail.replace('Expected: ', 'at most ').replace('Actual: ', 'it has ').replace(';', ',')}).`,
    remedy: 'Break it between two words.',
  }),
  MD022: () => ({ words: 'This heading touches the text.', remedy: 'Leave an empty line above it and below it.' }),
  MD024: () => ({ words: 'Another heading here has the same words.', remedy: 'Tell the two apart: links lead to the first.' }),
  MD025: () => ({ words: 'This is a second title.', remedy: 'A page has one heading with a single #; write ##.' }),
  MD031: () => ({ words: 'This code touches the text.', remedy: 'Leave an empty line above it and below it.' }),
  MD032: () => ({ words: 'This list touches the text.', remedy: 'Leave an empty line above it and below it.' }),
  MD033: (detail) => ({ words: `This is HTML${detail.replace('Element:', ':')}.`, remedy: 'Write it in Markdown, or as code.' }),
  MD034: () => ({ words: 'This web address is bare.', remedy: 'Write [what it leads to](the address).' }),
  MD040: () => ({ words: 'This code does not say its language.', remedy: 'Write it behind the three backticks: ```sh.' }),
  MD041: () => ({ words: 'The page does not begin with its title.', remedy: 'Let its first line be "# Title".' }),
  MD042: () => ({ words: 'This link leads nowhere.', remedy: 'Write the address between the brackets.' }),
  MD045: () => ({
    words: 'This picture has no words for whoever cannot see it.',
    remedy: 'Say between the square brackets what it shows: ![The list of API keys](images/api-keys.png).',
  }),
  MD047: () => ({ words: 'The file does not end with a line break.', remedy: 'Add one at its very end.' }),
};
