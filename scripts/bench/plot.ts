import { escaped } from './svg.ts';

export type Bar = { readonly title: string; readonly ratio: number; readonly goal: number | null };

/** Narrow, with each title above its bar, so that it is readable on a phone. */
const WIDTH = 480;
const HEADER_HEIGHT = 46;
const ROW_HEIGHT = 44;
const TITLE_HEIGHT = 18;
const VALUE_WIDTH = 44;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .heading { font-weight: 600; }
  .scale { fill: #57606a; }
  .bar { fill: #0969da; }
  .raw, .goal { stroke: #24292f; stroke-width: 2; }
  .raw { stroke-dasharray: 3 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .scale { fill: #9198a1; }
    .bar { fill: #4493f8; }
    .raw, .goal { stroke: #e6edf3; }
  }`;

/** An SVG bar chart of the ratios to raw, in light and dark. */
export function plot(bars: readonly Bar[]): string {
  const largest = Math.max(1, ...bars.flatMap(({ ratio, goal }) => [ratio, goal ?? 0]));
  const x = (ratio: number) => (ratio / largest) * (WIDTH - VALUE_WIDTH);
  const height = HEADER_HEIGHT + bars.length * ROW_HEIGHT;
  const line = (kind: 'raw' | 'goal', ratio: number, top: number, bottom: number) =>
    `<line class="${kind}" x1="${x(ratio).toFixed(1)}" x2="${x(ratio).toFixed(1)}" y1="${top}" y2="${bottom}"/>`;
  const rows = bars.map(({ title, ratio, goal }, i) => {
    const [top, middle] = [
      HEADER_HEIGHT + i * ROW_HEIGHT + TITLE_HEIGHT,
      HEADER_HEIGHT + i * ROW_HEIGHT + TITLE_HEIGHT + 14,
    ];
    return `<text x="0" y="${top - 4}">${escaped(title)}</text>
<rect class="bar" x="0" y="${top}" width="${x(ratio).toFixed(1)}" height="18" rx="2"/>
${line('raw', 1, top - 2, top + 20)}${goal === null ? '' : line('goal', goal, top - 2, top + 20)}
<text x="${(x(Math.max(1, ratio, goal ?? 0)) + 6).toFixed(1)}" y="${middle}">${ratio.toFixed(2)}</text>`;
  });
  const alternative = bars.map(({ title, ratio }) => `${title}: ${ratio.toFixed(2)}`).join('; ');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>Requests per second as a multiple of those of raw. ${escaped(alternative)}</title>
<style>${STYLE}
</style>
<text class="heading" x="0" y="14">Requests per second, 16 connections, as a multiple of raw</text>
<text class="scale" x="0" y="34">Dashed line: raw. Solid line: goal.</text>
${rows.join('\n')}
</svg>
`;
}
