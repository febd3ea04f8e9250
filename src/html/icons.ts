import { type Html, html } from './html.ts';

export const LOGO: Html = html`<svg viewBox="0 0 24 24" width="26" height="26" aria-hidden="true"><rect class="mark-ground" width="24" height="24" rx="6"/><path class="mark-line" d="M16.2 8.4A5.2 5.2 0 1 0 16.2 15.6"/><circle class="mark-dot" cx="16.4" cy="12" r="1.5"/></svg>`;

export const KEY_ICON: Html = html`<svg class="picture" viewBox="0 0 48 48" width="48" height="48" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"><circle cx="17" cy="31" r="9"/><path d="M23.5 24.5 41 7M33 15l6 6M28 20l4 4"/></svg>`;

export const WEBHOOK_ICON: Html = html`<svg class="picture" viewBox="0 0 48 48" width="48" height="48" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"><path d="M6 24h22M20 15l9 9-9 9"/><rect x="34" y="9" width="8" height="30" rx="3"/></svg>`;

/** The icons of sections and actions, each 20 by 20 units. */
const SHAPES = {
  profile: html`<circle cx="10" cy="6.5" r="3.25"/><path d="M3.5 17a6.5 6.5 0 0 1 13 0"/>`,
  people: html`<circle cx="7.5" cy="7" r="2.75"/><path d="M2 16.5a5.5 5.5 0 0 1 11 0M13 4.6a2.75 2.75 0 0 1 0 4.8M15 12.2a5.5 5.5 0 0 1 3 4.3"/>`,
  organization: html`<path d="M3.5 17V5l6.5-2.5V17M10 7.5l6.5 2V17M2 17h16M6 7.5h1.5M6 11h1.5M6 14h1.5M13 12h.5M13 14.5h.5"/>`,
  documentation: html`<path d="M10 6a1.5 1.5 0 0 0-1.5-1.5H3.5V15h5a1.5 1.5 0 0 1 1.5 1.5zM10 6a1.5 1.5 0 0 1 1.5-1.5h5V15h-5a1.5 1.5 0 0 0-1.5 1.5"/>`,
  'sign-out': html`<path d="M12 3.5H5.5A1.5 1.5 0 0 0 4 5v10a1.5 1.5 0 0 0 1.5 1.5H12M8.5 10H17M14 7l3 3-3 3"/>`,
  menu: html`<path d="M3.5 6h13M3.5 10h13M3.5 14h13"/>`,
  dots: html`<g fill="currentColor" stroke="none"><circle cx="10" cy="4" r="1.7"/><circle cx="10" cy="10" r="1.7"/><circle cx="10" cy="16" r="1.7"/></g>`,
  create: html`<path d="M10 4v12M4 10h12"/>`,
  rotate: html`<path d="M16 10a6 6 0 1 1-1.8-4.3M16 2.8v3.7h-3.7"/>`,
  rename: html`<path d="m4 16 .8-3.4 8.4-8.4a1.4 1.4 0 0 1 2 0l.6.6a1.4 1.4 0 0 1 0 2l-8.4 8.4zM11.8 5.6l2.6 2.6"/>`,
  restrict: html`<path d="M3.5 6h6M13.5 6h3M3.5 14h3M10.5 14h6"/><circle cx="11.5" cy="6" r="2"/><circle cx="8.5" cy="14" r="2"/>`,
  move: html`<path d="M3.5 10h9M9.5 6.5 13 10l-3.5 3.5M12.5 3.5h3A1.5 1.5 0 0 1 17 5v10a1.5 1.5 0 0 1-1.5 1.5h-3"/>`,
  revoke: html`<circle cx="10" cy="10" r="6.5"/><path d="m5.5 5.5 9 9"/>`,
  search: html`<circle cx="9" cy="9" r="5"/><path d="m12.8 12.8 4 4"/>`,
  copy: html`<rect x="7.5" y="7.5" width="9" height="9" rx="1.5"/><path d="M13 7.5V5A1.5 1.5 0 0 0 11.5 3.5H5A1.5 1.5 0 0 0 3.5 5v6.5A1.5 1.5 0 0 0 5 13h2.5"/>`,
  invite: html`<circle cx="8" cy="7" r="2.75"/><path d="M2.5 16.5a5.5 5.5 0 0 1 11 0M15.5 5v5M13 7.5h5"/>`,
  download: html`<path d="M10 3.5V13M6.5 9.5 10 13l3.5-3.5M4 16.5h12"/>`,
  link: html`<path d="m8 12 4-4M9 6l1.6-1.6a3.5 3.5 0 0 1 5 5L14 11M11 14l-1.6 1.6a3.5 3.5 0 0 1-5-5L6 9"/>`,
  password: html`<rect x="4.5" y="9" width="11" height="8" rx="1.5"/><path d="M7 9V6.5a3 3 0 0 1 6 0V9"/>`,
  'second-factor': html`<path d="m10 2.5 6 2.2v4.8c0 3.6-2.5 6.4-6 8-3.5-1.6-6-4.4-6-8V4.7z"/>`,
  passkey: html`<circle cx="7.5" cy="6.5" r="3"/><path d="M2 16.5a5.5 5.5 0 0 1 8.6-4.5M14.5 12.2V17l-1-1M14.5 14.8h1.3"/><circle cx="14.5" cy="9.8" r="2.4"/>`,
  previous: html`<path d="m12 5-5 5 5 5"/>`,
  next: html`<path d="m8 5 5 5-5 5"/>`,
};

export type IconName = keyof typeof SHAPES;

/** The sprite with which every page begins. It contains each icon once, even if a page shows the icon several times. */
export const SPRITE: Html = html`<svg class="sprite" width="0" height="0" aria-hidden="true">${Object.entries(
  SHAPES,
).map(([name, shape]) => html`<symbol id="icon-${name}" viewBox="0 0 20 20">${shape}</symbol>`)}</svg>`;

/** Returns an icon that decorates a text with the same meaning, so screen readers skip the icon. */
export function icon(name: IconName): Html {
  return html`<svg class="icon" width="18" height="18" aria-hidden="true"><use href="#icon-${name}"/></svg>`;
}

/** Returns the initials of the first and the last word, such as "AO" for "Adaeze Okafor". */
export function initials(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== '');
  const chosen = words.length > 1 ? [words.at(0), words.at(-1)] : words;
  return chosen.map((word = '') => String.fromCodePoint(word.codePointAt(0) ?? 32).toUpperCase()).join('');
}
