// Finds and replaces headings and links in Markdown. Ignores code.

export type Heading = {
  readonly line: number;
  readonly level: number;
  readonly text: string;
  /** The anchor of the heading. It is the same as on GitHub, where people also read the guides. */
  readonly anchor: string;
};
export type Link = {
  readonly line: number;
  /** The position of the target in the text, in characters. */
  readonly index: number;
  readonly target: string;
  readonly isImage: boolean;
};

const BLOCK_OF_CODE = /^ *(?<fence>`{3,}|~{3,})[\s\S]*?(?:^ *\k<fence>[`~]*[ \t]*$|(?![\s\S]))/m;
/** Matches a code span. A code span ends within its paragraph. */
const SPAN_OF_CODE = /(?<!`)(?<tick>`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S])*?(?<!`)\k<tick>(?!`)/;
const TITLE = /^(?<marks>#{1,6}) +(?<words>.+?)(?: +#+)? *$/m;
/** Matches the target of [text](target), ![text](target) or [name]: target. */
const TARGET = /(?<before>!?\[(?:[^[\]\\]|\\.)*\]\(|^\[[^\]]+\]:[ \t]+)(?<target>[^()\s]+)(?=[)\s]|$)/m;

/**
 * Code comes first among the alternatives, so that a heading or a link in code is not matched. A match of code has none of the
 * named groups that are read below.
 */
const HEADING = alternatives(BLOCK_OF_CODE, SPAN_OF_CODE, TITLE);
const LINK = alternatives(BLOCK_OF_CODE, SPAN_OF_CODE, TARGET);

function alternatives(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'gm');
}

export function headingsOf(text: string): Heading[] {
  const taken = new Map<string, number>();
  return [...text.matchAll(HEADING)].flatMap(({ index, groups = {} }) => {
    const { marks, words } = groups;
    if (marks === undefined || words === undefined) return [];
    const slug = anchorOf(words);
    const times = taken.get(slug) ?? 0;
    taken.set(slug, times + 1);
    const anchor = times === 0 ? slug : `${slug}-${times}`;
    return [{ line: lineOf(text, index), level: marks.length, text: words, anchor }];
  });
}

export function linksOf(text: string): Link[] {
  return [...text.matchAll(LINK)].flatMap(({ index, groups = {} }) => {
    const { before, target } = groups;
    if (before === undefined || target === undefined) return [];
    const start = index + before.length;
    return [{ line: lineOf(text, start), index: start, target, isImage: before.startsWith('!') }];
  });
}

/** Returns the text with the target of each link replaced. */
export function withTargets(text: string, replace: (link: Link) => string): string {
  let written = '';
  let end = 0;
  for (const link of linksOf(text)) {
    written += text.slice(end, link.index) + replace(link);
    end = link.index + link.target.length;
  }
  return written + text.slice(end);
}

function anchorOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
