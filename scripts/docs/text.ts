import { raw } from 'hono/html';
import markdownIt from 'markdown-it';
import { type Html, html } from '../../src/html/html.ts';
import { headingsOf } from './markdown.ts';

type Options = {
  /** The level of the headings that begin with "##". */
  readonly topLevel?: number;
  /** Returns the id of a heading. The default is no id. */
  readonly idOf?: (anchor: string) => string;
};
type Token = ReturnType<typeof markdown.parse>[number];

/** The names of languages for readers. A code block in another language has no label. */
const LANGUAGES: Readonly<Record<string, string>> = {
  sh: 'Shell',
  json: 'JSON',
  http: 'HTTP',
  ts: 'TypeScript',
  typescript: 'TypeScript',
  js: 'JavaScript',
  javascript: 'JavaScript',
  python: 'Python',
  go: 'Go',
  php: 'PHP',
};

const markdown = markdownIt({ html: false });

// Wide tables and code blocks have their own scroll bars. They can be focused, so that they can be scrolled with the keyboard.
markdown.renderer.rules['table_open'] = () => '<div class="scrolls" tabindex="0"><table role="table">';
markdown.renderer.rules['table_close'] = () => '</table></div>';
markdown.renderer.rules['fence'] = (tokens, i) => {
  const { info = '', content = '' } = tokens[i] ?? {};
  const [language = '', ...options] = info.split(' ');
  const label = options.find((option) => option.startsWith('label='))?.slice('label='.length) ?? LANGUAGES[language];
  return String(
    html`<figure class="code"${label !== undefined && html` data-language="${label}"`}><pre tabindex="0"${language === 'json' && html` class="wraps"`}><code>${codeText(content.trimEnd())}</code></pre></figure>`,
  );
};
markdown.renderer.rules['heading_open'] = (tokens, i, options, _env, self) =>
  `${self.renderToken(tokens, i, options)}${tokens[i]?.meta?.link ?? ''}`;
markdown.renderer.rules['heading_close'] = (tokens, i, options, _env, self) =>
  `${tokens[i]?.meta?.link ?? ''}${self.renderToken(tokens, i, options)}`;
markdown.renderer.rules['image'] = (tokens, i) => {
  const token = tokens[i];
  return String(html`<img src="${token?.attrGet('src') ?? ''}" alt="${token?.content ?? ''}" loading="lazy">`);
};

/**
 * Escapes code for the content of an element. Quotation marks, which are frequent in code, stay as they are: only attributes
 * require that they are escaped.
 */
function codeText(source: string): Html {
  return raw(source.replaceAll('&', '&amp;').replaceAll('<', '&lt;'));
}

export function text(source: string, { topLevel = 2, idOf }: Options = {}): Html {
  const anchors = new Map(headingsOf(source).map(({ line, anchor }) => [line, anchor]));
  const tokens = markdown.parse(source, {});
  for (const [i, token] of tokens.entries()) {
    if (!token.type.startsWith('heading_')) continue;
    token.tag = `h${Math.min(6, Number(token.tag.slice(1)) + topLevel - 2)}`;
    const anchor = anchors.get((token.map?.[0] ?? -1) + 1);
    if (anchor !== undefined && idOf !== undefined) addAnchor(tokens, i, idOf(anchor));
  }
  labelCells(tokens);
  return raw(markdown.renderer.render(tokens, markdown.options, {}));
}

/** Returns inline Markdown as HTML, without a paragraph element. */
export function words(source: string): Html {
  return raw(markdown.renderInline(source));
}

/** Returns the Markdown as plain text, for the search or a summary. */
export function plain(source: string): string {
  const tokens = markdown.parse(source, {}).flatMap((token) => [token, ...(token.children ?? [])]);
  const kept = tokens.filter(({ type }) =>
    ['text', 'code_inline', 'fence', 'softbreak', 'hardbreak', 'paragraph_close', 'td_close', 'th_close'].includes(
      type,
    ),
  );
  return kept
    .map(({ content }) => content || ' ')
    .join('')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Gives the heading an id. Makes the heading a link to itself, unless it already contains a link. */
function addAnchor(tokens: readonly Token[], i: number, id: string): void {
  const [open, content, close] = tokens.slice(i);
  open?.attrSet('id', id);
  if (open === undefined || close === undefined || content?.children?.some(({ type }) => type === 'link_open')) return;
  open.meta = { link: `<a class="anchor" href="#${id}">` };
  close.meta = { link: '</a>' };
}

/** Adds the heading of its column to each cell, because a phone shows the heading in each cell. */
function labelCells(tokens: readonly Token[]): void {
  let headings: string[] = [];
  let column = 0;
  for (const [i, token] of tokens.entries()) {
    if (token.type === 'table_open') headings = [];
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'th_open') headings.push(plain(tokens[i + 1]?.content ?? ''));
    if (token.type === 'td_open') token.attrSet('data-label', headings[column++] ?? '');
    // Markdown-it aligns columns with inline styles, which the pages' Content-Security-Policy forbids.
    if (token.attrs?.some(([name]) => name === 'style'))
      token.attrs = [['class', 'number'], ...token.attrs.filter(([name]) => name !== 'style')];
    const role = ROLES[token.type];
    if (role !== undefined) token.attrSet('role', role);
  }
}

/**
 * The ARIA roles of table elements. On a phone, rows are displayed as blocks, so they lose their implicit role for screen
 * readers.
 */
const ROLES: Readonly<Record<string, string>> = {
  thead_open: 'rowgroup',
  tbody_open: 'rowgroup',
  tr_open: 'row',
  th_open: 'columnheader',
  td_open: 'cell',
};
