import markdownIt from 'markdown-it';

const markdown = markdownIt();

/**
 * The Markdown with each paragraph on one line, because Redoc's search joins the last word of a line and the first word of
 * the next.
 */
export function unwrapped(text: string): string {
  if (!text.includes('\n')) return text;
  const lines: (string | null)[] = text.split('\n');
  for (const { type, map } of markdown.parse(text, {})) {
    if (type !== 'paragraph_open' || map === null) continue;
    const [first, end] = map;
    for (let i = first + 1, last = first; i < end; i += 1) {
      const before = lines[last] ?? '';
      // Two spaces or a backslash at the end are a hard line break.
      if (/( {2}|\\)$/.test(before)) last = i;
      else {
        lines[last] = `${before.trimEnd()} ${(lines[i] ?? '').replace(/^[\s>]*/, '')}`;
        lines[i] = null;
      }
    }
  }
  return lines.filter((line) => line !== null).join('\n');
}
