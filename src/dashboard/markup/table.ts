import { type Html, type HtmlValue, html } from '../../html/html.ts';

type Row = {
  readonly cells: readonly HtmlValue[];
  /** Whether the row is shown in muted colors, because its subject has ended. */
  readonly isEnded?: boolean;
};

/**
 * Returns a table, which the style sheet turns into cards on narrow screens. The ARIA roles are explicit because an element that
 * is not displayed as a table loses its implicit role.
 */
export function table({
  name,
  label,
  columns,
  rows,
}: {
  /** The class of the table. The style sheet defines the column widths for each class. */
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
