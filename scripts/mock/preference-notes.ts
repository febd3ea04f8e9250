import type { ServerResponse } from 'node:http';
import type { Send } from '../../src/api/send.ts';
import type { Preference } from './prefer.ts';
import type { Preferences } from './preferences.ts';

/** RFC 7240 section 3. */
export const APPLIED_HEADER = 'Preference-Applied';
export const WARNING_HEADER = 'X-Mock-Warning';

/** What the `Prefer` header of a request asks for; `response` is `undefined` if the operation has no such response. */
export type Note = { readonly preferences: Preferences; readonly response: Preference | undefined };

export type PreferenceNotes = {
  add(res: ServerResponse, note: Note): void;
  /** Adds to each response which preferences were applied and which were not. */
  sendWith(send: Send): Send;
};

/** `onWarning` is called with each sentence about a preference that was not applied. */
export function createPreferenceNotes(onWarning: (warning: string) => void): PreferenceNotes {
  const notes = new WeakMap<ServerResponse, Note>();
  return {
    add: (res, note) => void notes.set(res, note),
    sendWith: (send) => (exchange, response) => {
      const note = notes.get(exchange.res);
      if (note !== undefined) {
        const { applied, warnings } = outcomeOf(note, response.status);
        if (applied.length > 0) exchange.res.setHeader(APPLIED_HEADER, applied.join(', '));
        if (warnings.length > 0) exchange.res.setHeader(WARNING_HEADER, warnings.join(' '));
        for (const warning of warnings) onWarning(warning);
      }
      send(exchange, response);
    },
  };
}

type Outcome = { readonly applied: readonly string[]; readonly warnings: readonly string[] };

function outcomeOf({ preferences, response }: Note, status: number): Outcome {
  const { code, example, applied, warnings } = preferences;
  if (code === undefined && example === undefined) return { applied, warnings };
  // A 304 is a success that the client has already.
  if (response === undefined || (status !== response.status && !(response.status === 200 && status === 304)))
    return { applied, warnings: [...warnings, notSent(response)] };
  const chosen = [
    ...(code === undefined ? [] : [`code=${response.status}`]),
    ...(response.example === undefined ? [] : [`example=${response.example}`]),
  ];
  return { applied: [...chosen, ...applied], warnings };
}

function notSent(response: Preference | undefined): string {
  return response === undefined
    ? 'Prefer: the operation has no such response.'
    : 'Prefer: a success is sent only where the server would accept the request.';
}
