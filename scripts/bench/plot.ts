export type Bar = { readonly title: string; readonly ratio: number; readonly goal: number | null };

const WIDTH = 800;
const LABEL_WIDTH = 360;
const ROW = 30;
const HEAD = 26;
const VALUE_WIDTH = 60;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .scale { fill: #57606a; font-size: 11px; }
  .bar { fill: #0969da; }
  .raw { stroke: #57606a; stroke-dasharray: 3 3; }
  .goal { stroke: #24292f; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .scale { fill: #9198a1; }
    .bar { fill: #4493f8; }
    .raw { stroke: #9198a1; }
    .goal { stroke: #e6edf3; }
  }`;

/** An SVG of how many times faster than raw each is; a line across a bar is its goal. Light and dark, as its reader likes. */
export function plot(bars: readonly Bar[]): string {
  const most = Math.max(1, ...bars.flatMap(({ ratio, goal }) => [ratio, goal ?? 0]));
  const x = (ratio: number) => LABEL_WIDTH + (ratio / most) * (WIDTH - LABEL_WIDTH - VALUE_WIDTH);
  const height = HEAD + bars.length * ROW + 6;
  const line = (kind: 'raw' | 'goal', ratio: number, top: number, bottom: number) =>
    `<line class="${kind}" x1="${x(ratio).toFixed(1)}" x2="${x(ratio).toFixed(1)}" y1="${top}" y2="${bottom}"/>`;
  const rows = bars.map(({ title, ratio, goal }, i) => {
    const top = HEAD + i * ROW;
    return `<text x="0" y="${top + 19}">${escaped(title)}</text>
<rect class="bar" x="${LABEL_WIDTH}" y="${top + 5}" width="${(x(ratio) - LABEL_WIDTH).toFixed(1)}" height="${ROW - 10}" rx="2"/>
${goal === null ? '' : line('goal', goal, top + 2, top + ROW - 2)}
<text x="${(x(Math.max(ratio, goal ?? 0)) + 8).toFixed(1)}" y="${top + 19}">${ratio.toFixed(2)}</text>`;
  });
  const alternative = bars.map(({ title, ratio }) => `${title}: ${ratio.toFixed(2)}`).join('; ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>Requests per second as a multiple of raw's. ${escaped(alternative)}</title>
<style>${STYLE}
</style>
<text class="scale" x="${x(1).toFixed(1)}" y="14" text-anchor="middle">raw</text>
${line('raw', 1, HEAD - 6, height - 6)}
${rows.join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
