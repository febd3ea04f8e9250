import { type Html, html } from './html.ts';

/** What a form makes that is shown in its answer and never again. */
export type OnceMade = 'key' | 'rotation' | 'invitation' | 'link' | 'recovery-codes';

const WORDS: Record<OnceMade, { was: string; otherwise: string }> = {
  key: {
    was: 'The key was made, and was shown in the first answer. It cannot be shown again, and there is no second one.',
    otherwise:
      'If you did not copy it, rotate it from its menu in the list. You are then shown the key that replaces it.',
  },
  rotation: {
    was: 'The key was rotated, and the new one was shown in the first answer. It cannot be shown again.',
    otherwise: 'If you did not copy it, rotate the new one from its menu in the list.',
  },
  invitation: {
    was: 'The user was invited, and the link was shown in the first answer. It cannot be shown again.',
    otherwise: 'If you did not copy it, open the user’s page and make a new link. It voids the first one.',
  },
  link: {
    was: 'The link was made, and was shown in the first answer. It cannot be shown again.',
    otherwise: 'If you did not copy it, make another one on the user’s page. It voids the first one.',
  },
  'recovery-codes': {
    was: 'The recovery codes were made, and were shown in the first answer. They cannot be shown again.',
    otherwise: 'If you did not keep them, make new ones under My profile. They replace these.',
  },
};

export function sentBefore(made: OnceMade): Html {
  const { was, otherwise } = WORDS[made];
  return html`<p>${was}</p><p>${otherwise}</p>`;
}
