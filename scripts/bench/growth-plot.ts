import type { Growth } from './growth.ts';
import { CONNECTIONS } from './growth-cases.ts';
import { SIZES } from './growth-data.ts';
import { escaped } from './svg.ts';

/** Narrow, with large text, so that it is readable on a phone. */
const WIDTH = 480;
const COLUMN_WIDTH = 232;
const HEADER_HEIGHT = 110;
const TITLE_HEIGHT = 18;
const ROW_HEIGHT = 78;
const FOOTER_HEIGHT = 22;
/** The lines, within a column. */
const LEFT = 28;
const RIGHT = 184;
/** The lowest ratio of the scale, so that a request that gets faster stays within it. */
const LOWEST = 0.5;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .heading, .factor { font-weight: 600; }
  .scale { fill: #57606a; font-size: 12px; }
  .grid { stroke: #d0d7de; stroke-width: 1; }
  .same { stroke: #57606a; stroke-width: 1; stroke-dasharray: 3 3; }
  .line { fill: none; stroke: #0969da; stroke-width: 2; }
  .point { fill: #0969da; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .scale { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .same { stroke: #9198a1; }
    .line { stroke: #4493f8; }
    .point { fill: #4493f8; }
  }`;

/** An SVG with a small line chart for each case, all with the same logarithmic scale, in light and dark. */
export function plotGrowth(growths: readonly Growth[]): string {
  const titles = [...new Set(growths.map(({ title }) => title))];
  const highest = Math.max(10, ...growths.flatMap(ratiosOf));
  const decades = Array.from({ length: Math.floor(Math.log10(highest)) + 1 }, (_, i) => 10 ** i);
  const lineHeight = ROW_HEIGHT - TITLE_HEIGHT - 16;
  const y = (ratio: number) =>
    TITLE_HEIGHT + 6 + lineHeight * (1 - Math.log(ratio / LOWEST) / Math.log(highest / LOWEST));
  const charts = growths.map((growth) => {
    const left = growth.of === 'large' ? 0 : WIDTH - COLUMN_WIDTH;
    const top = HEADER_HEIGHT + titles.indexOf(growth.title) * ROW_HEIGHT;
    return `<g transform="translate(${left} ${top})">\n${chartOf(growth, y, decades)}\n</g>`;
  });
  const height = HEADER_HEIGHT + titles.length * ROW_HEIGHT + FOOTER_HEIGHT;
  const alternative = growths.map((each) => `${each.title}, ${HEADINGS[each.of][0]}: ${factorsOf(each)}`).join('; ');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>Latency as a multiple of that with the fewest rows. ${escaped(alternative)}</title>
<style>${STYLE}
</style>
<text class="heading" x="0" y="14">Median latency, ${CONNECTIONS} connections, no response cache</text>
<text class="scale" x="0" y="34">In ms, and as a multiple of that with the fewest rows.</text>
${(['large', 'small'] as const).map(headingOf).join('\n')}
${charts.join('\n')}
${(['large', 'small'] as const).map((of) => axisOf(of, height - 6)).join('\n')}
</svg>
`;
}

const HEADINGS = {
  large: ['one organization', 'with so many rows:'],
  small: ['so many organizations', 'with 10 rows each:'],
} as const;

function headingOf(of: Growth['of']): string {
  const left = of === 'large' ? 0 : WIDTH - COLUMN_WIDTH;
  const [first, second] = HEADINGS[of];
  return `<text class="heading" x="${left}" y="60">${first[0]?.toUpperCase()}${first.slice(1)}</text>
<text class="heading" x="${left}" y="77">${second}</text>
${axisOf(of, 95)}`;
}

/** The sizes as powers of ten, below or above the lines. */
function axisOf(of: Growth['of'], y: number): string {
  const left = of === 'large' ? 0 : WIDTH - COLUMN_WIDTH;
  return SIZES.map((size, i) => {
    const number = of === 'large' ? size.rows : size.organizations;
    const power = Math.log10(number).toFixed(0);
    const raised = [...power].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('');
    const text = power === '1' ? '10' : `10${raised}`;
    return `<text class="scale" text-anchor="middle" x="${(left + placeOf(i)).toFixed(1)}" y="${y}">${text}</text>`;
  }).join('\n');
}

function placeOf(i: number): number {
  return LEFT + ((RIGHT - LEFT) * i) / (SIZES.length - 1);
}

function chartOf(growth: Growth, y: (ratio: number) => number, decades: readonly number[]): string {
  const { title, points } = growth;
  const places = ratiosOf(growth).map((ratio, i) => ({ x: placeOf(i).toFixed(1), y: y(ratio).toFixed(1) }));
  const [first, last] = [points[0], points.at(-1)];
  const grid = decades.map((ratio) => {
    const at = y(ratio).toFixed(1);
    return `<line class="${ratio === 1 ? 'same' : 'grid'}" x1="${LEFT}" x2="${RIGHT}" y1="${at}" y2="${at}"/>
<text class="scale" text-anchor="end" x="${LEFT - 6}" y="${(y(ratio) + 4).toFixed(1)}">${ratio}</text>`;
  });
  const circles = places.map((place) => `<circle class="point" cx="${place.x}" cy="${place.y}" r="3"/>`);
  return `<text x="0" y="12">${escaped(sentence(title))}</text>
${grid.join('\n')}
<polyline class="line" points="${places.map((place) => `${place.x},${place.y}`).join(' ')}"/>
${circles.join('\n')}
<text class="factor" x="${RIGHT + 8}" y="${(Number(places.at(-1)?.y) + 4).toFixed(1)}">${factor(ratiosOf(growth).at(-1) ?? 1)}</text>
<text class="scale" text-anchor="end" x="${COLUMN_WIDTH}" y="12">${milliseconds(first?.p50Ms)} to ${milliseconds(last?.p50Ms)}</text>`;
}

function ratiosOf({ points }: Growth): number[] {
  const first = points[0]?.p50Ms ?? Number.NaN;
  return points.map(({ p50Ms }) => Math.max(LOWEST, p50Ms / first));
}

function factorsOf(growth: Growth): string {
  return ratiosOf(growth).map(factor).join(', ');
}

function factor(ratio: number): string {
  return `${ratio.toFixed(ratio < 10 ? 1 : 0)}×`;
}

function milliseconds(number = Number.NaN): string {
  return number.toFixed(number < 10 ? 1 : 0);
}

function sentence(title: string): string {
  return `${title[0]?.toUpperCase()}${title.slice(1)}`;
}
