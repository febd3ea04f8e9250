import { raw } from 'hono/html';
import markdownIt from 'markdown-it';
import { type Html, html } from '../../../src/html/html.ts';

/** A heading in Markdown with its anchor, in the form that the rule below reads. For `placed` and `withHeadings`. */
export function anchoredHeading(
  place: string,
  { level, text, anchor }: { level: number; text: string; anchor: string },
) {
  return `${'#'.repeat(level)} ${text} {#${place}/${anchor}}`;
}

const markdown = markdownIt({ html: false });
// By default, it refuses SVG as data. The pictures of the guides are ours, and a browser runs no script in an image.
const { validateLink } = markdown;
markdown.validateLink = (url) => url.startsWith('data:image/svg+xml;base64,') || validateLink(url);

markdown.core.ruler.after('block', 'anchors', ({ tokens }) => {
  for (const [i, token] of tokens.entries()) {
    const words = tokens[i + 1];
    if (token.type !== 'heading_open' || words === undefined) continue;
    const [whole, anchor] = / \{#(\S+)\}$/.exec(words.content) ?? [];
    if (whole === undefined || anchor === undefined) continue;
    words.content = words.content.slice(0, -whole.length);
    token.attrSet('id', anchor);
  }
});

// Wide tables and code scroll on their own, and are focusable for scrolling by keyboard.
markdown.renderer.rules['table_open'] = () => '<div class="scrolls" tabindex="0"><table>';
markdown.renderer.rules['table_close'] = () => '</table></div>';
markdown.renderer.rules['fence'] = (tokens, i) => String(code(tokens[i]?.content.trimEnd() ?? ''));

/** Rendered Markdown. Its top headings (##) get the level `topLevel`. */
export function text(source: string, topLevel = 3): Html {
  const tokens = markdown.parse(source, {});
  for (const token of tokens) {
    if (token.type.startsWith('heading_')) token.tag = `h${Math.min(6, Number(token.tag.slice(1)) + topLevel - 2)}`;
  }
  return raw(markdown.renderer.render(tokens, markdown.options, {}));
}

/** Rendered inline Markdown, without a paragraph. */
export function words(source: string): Html {
  return raw(markdown.renderInline(source));
}

export function code(source: string): Html {
  return html`<pre tabindex="0"><code>${source}</code></pre>`;
}

export function json(value: unknown): Html {
  return code(JSON.stringify(value, null, 2));
}
