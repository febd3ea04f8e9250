import { EVENT_TYPES, type EventType, MAX_URL_CHARACTERS } from '../../domain/webhook-endpoint.ts';
import { type Html, html } from '../../html/html.ts';
import type { Problem } from '../http/problem.ts';
import { field, fieldError } from '../markup/parts.ts';
import { eventTypeChip } from './cells.ts';

export const CONTENT_LABELS = { url: 'URL', event_types: 'Events' };

/** The values of the fields. */
export type ContentValues = { readonly url: string; readonly eventTypes: readonly string[] };

export function contentFields({ url, eventTypes }: ContentValues, problem: Problem | null): Html {
  const errors = problem?.fields ?? {};
  return html`${field(
    {
      name: 'url',
      label: CONTENT_LABELS.url,
      hint: 'Where your program receives events, such as https://example.org/webhooks. The internet must be able to reach it.',
      errors,
    },
    (attributes) =>
      html`<input ${attributes} type="url" value="${url}" maxlength="${MAX_URL_CHARACTERS}" required autocomplete="off" spellcheck="false">`,
  )}
<fieldset class="field" id="event_types" tabindex="-1"><legend>${CONTENT_LABELS.event_types}</legend>
${fieldError('event_types', CONTENT_LABELS.event_types, errors['event_types'] ?? [])}
${EVENT_TYPES.map(
  (type) =>
    html`<label class="choice"><input type="checkbox" name="event_types" value="${type}"${eventTypes.includes(type) && html` checked`}>
<span>${eventTypeChip(type)}<span class="hint">${meaningOf(type)}</span></span></label>`,
)}</fieldset>`;
}

/** "A parent program was changed." for "parent_program.updated". */
function meaningOf(type: EventType): string {
  const [resource = '', change] = type.split('.');
  const noun = resource.replaceAll('_', ' ');
  return `${/^[aeiou]/.test(noun) ? 'An' : 'A'} ${noun} was ${change === 'updated' ? 'changed' : change}.`;
}
