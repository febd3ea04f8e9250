// The messages and remedies for markdownlint's findings. Rules without an entry here keep markdownlint's own description.

type MarkdownFinding = {
  /** The names of the rule, such as "MD001" and "heading-increment". */
  readonly names: readonly string[];
  readonly description: string;
  readonly detail: string;
};

type Advice = { readonly message: string; readonly remedy: string };

export function adviceForMarkdown({ names, description, detail }: MarkdownFinding): Advice {
  const known = KNOWN[names[0] ?? ''];
  if (known !== undefined) return known(detail);
  return { message: `${description}.`, remedy: detail === '' ? 'Compare with another page.' : `${detail}.` };
}

const KNOWN: Readonly<Record<string, (detail: string) => Advice>> = {
  MD001: (detail) => {
    const [expected, actual] = numbersIn(detail);
    return {
      message: `This heading skips a level: it has level ${actual} and needs level ${expected}.`,
      remedy: `Begin it with ${'#'.repeat(Number(expected))}.`,
    };
  },
  MD009: () => ({ message: 'This line ends with spaces.', remedy: 'Remove them.' }),
  MD010: () => ({ message: 'This line contains a tab.', remedy: 'Replace it with spaces.' }),
  MD012: () => ({ message: 'There are several empty lines in a row.', remedy: 'Keep one.' }),
  MD013: (detail) => {
    const [expected, actual] = numbersIn(detail);
    return {
      message: `This line has ${actual} characters; at most ${expected} are allowed.`,
      remedy: 'Break it between two words.',
    };
  },
  MD022: () => ({
    message: 'This heading has no empty line around it.',
    remedy: 'Leave one above it and one below it.',
  }),
  MD024: () => ({
    message: 'Another heading here has the same text.',
    remedy: 'Make the two different, because links lead to the first one.',
  }),
  MD025: () => ({ message: 'This is a second title.', remedy: 'Begin it with ##: only the title has a single #.' }),
  MD031: () => ({ message: 'This code has no empty line around it.', remedy: 'Leave one above it and one below it.' }),
  MD032: () => ({ message: 'This list has no empty line around it.', remedy: 'Leave one above it and one below it.' }),
  MD033: (detail) => ({
    message: `This is HTML${detail.replace('Element:', ':')}.`,
    remedy: 'Write it in Markdown, or as code.',
  }),
  MD034: () => ({ message: 'This web address is not a link.', remedy: 'Write [text](address).' }),
  MD040: () => ({ message: 'This code has no language.', remedy: 'Add it after the three backticks: ```sh.' }),
  MD041: () => ({ message: 'The page does not begin with its title.', remedy: 'Make "# Title" its first line.' }),
  MD042: () => ({ message: 'This link is empty.', remedy: 'Write the address between the parentheses.' }),
  MD045: () => ({
    message: 'This picture has no alternative text.',
    remedy: 'Describe it between the square brackets: ![The list of API keys](images/api-keys.png).',
  }),
  MD047: () => ({ message: 'The file does not end with a line break.', remedy: 'Add one at the end.' }),
};

/** Returns the numbers in a text such as "Expected: 120; Actual: 130". The first is the expected value. */
function numbersIn(detail: string): readonly string[] {
  return detail.match(/\d+/g) ?? [];
}
