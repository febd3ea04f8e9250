import { type Html, type HtmlValue, html } from '../../html/html.ts';

type Row = {
  readonly cells: readonly HtmlValue[];
  /** Whether the row is shown in muted colors, because its subject has ended. */
  readonly isEnded?: boolean;
};

/**
 * Returns a table, which the style sheet turns into cards on narrow screens. Elements have explicit ARIA roles, because browsers
 * drop an element's implicit role if the element is not displayed as a table.
 */
export function table({
  name,
  label,
  columns,
  rows,
}: {
  /** The class of the table, on which the column widths in the style sheet depend. */
  name:
    | 'keys'
    | 'keys-for-others'
    | 'organization-keys'
    | 'rotations'
    | 'users'
    | 'events'
    | 'sessions'
    | 'uses'
    | 'webhooks'
    | 'deliveries'
    | 'attempts'
    | 'most-used'
    | 'integrations'
    | 'moved-keys'
    | 'requests'
    | 'requests-of-all';
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
    ({ cells, isEnded = false }) =>
      html`<tr role="row"${isEnded && html` class="ended"`}>${cells.map((cell, i) => cellOf(cell, i, columns))}</tr>`,
  )}</tbody>
</table>`;
}

function cellOf(cell: HtmlValue, i: number, columns: readonly string[]): Html {
  return i === 0
    ? html`<th role="rowheader" scope="row">${cell}</th>`
    : html`<td role="cell" data-label="${columns[i]}"><div>${cell}</div></td>`;
}
