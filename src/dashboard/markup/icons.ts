import { type Html, html } from './html.ts';

export const LOGO: Html = html`<svg class="mark" viewBox="0 0 24 24" width="26" height="26" aria-hidden="true"><rect class="mark-ground" width="24" height="24" rx="6"/><path class="mark-line" d="M16.2 8.4A5.2 5.2 0 1 0 16.2 15.6"/><circle class="mark-dot" cx="16.4" cy="12" r="1.5"/></svg>`;

export const DOTS: Html = html`<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" fill="currentColor"><circle cx="10" cy="4" r="1.7"/><circle cx="10" cy="10" r="1.7"/><circle cx="10" cy="16" r="1.7"/></svg>`;

export const KEY_ICON: Html = html`<svg class="picture" viewBox="0 0 48 48" width="48" height="48" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"><circle cx="17" cy="31" r="9"/><path d="M23.5 24.5 41 7M33 15l6 6M28 20l4 4"/></svg>`;

function lineIcon(paths: Html): Html {
  return html`<svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">${paths}</svg>`;
}

export const SECTION_ICONS = {
  profile: lineIcon(html`<circle cx="10" cy="6.5" r="3.25"/><path d="M3.5 17a6.5 6.5 0 0 1 13 0"/>`),
  people: lineIcon(
    html`<circle cx="7.5" cy="7" r="2.75"/><path d="M2 16.5a5.5 5.5 0 0 1 11 0M13 4.6a2.75 2.75 0 0 1 0 4.8M15 12.2a5.5 5.5 0 0 1 3 4.3"/>`,
  ),
  organization: lineIcon(
    html`<path d="M3.5 17V5l6.5-2.5V17M10 7.5l6.5 2V17M2 17h16M6 7.5h1.5M6 11h1.5M6 14h1.5M13 12h.5M13 14.5h.5"/>`,
  ),
};

/** The initials of the first and the last word: "AO" for "Adaeze Okafor". */
export function initials(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== '');
  const chosen = words.length > 1 ? [words.at(0), words.at(-1)] : words;
  return chosen.map((word = '') => String.fromCodePoint(word.codePointAt(0) ?? 32).toUpperCase()).join('');
}
