import { type Html, type HtmlValue, html } from './html.ts';

type Row = { readonly cells: readonly HtmlValue[]; readonly isQuiet?: boolean };

/**
 * A table; where there is no room for one, the style sheet makes each row a card. The roles are spelled out because what is
 * not laid out as a table loses them.
 */
export function table({
  name,
  label,
  columns,
  rows,
}: {
  /** By which the style sheet knows how wide its columns are. */
  name: 'keys' | 'keys-for-others' | 'users' | 'events';
  label: string;
  columns: readonly string[];
  rows: readonly Row[];
}): Html {
  return html`<table class="${name}" role="table" aria-label="${label}">
<thead role="rowgroup"><tr role="row">${columns.map(
    (column) =>
      html`<th role="columnheader" scope="col">${column === 'Actions' ? html`<span class="unseen">${column}</span>` : column}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">${rows.map(
    ({ cells, isQuiet = false }) =>
      html`<tr role="row"${isQuiet && html` class="ended"`}>${cells.map((cell, i) => one(cell, i, columns))}</tr>`,
  )}</tbody>
</table>`;
}

function one(cell: HtmlValue, i: number, columns: readonly string[]): Html {
  return i === 0
    ? html`<th role="rowheader" scope="row">${cell}</th>`
    : html`<td role="cell" data-label="${columns[i]}"><div>${cell}</div></td>`;
}
