import { randomBytes } from 'node:crypto';
import { SentBeforeError } from '../../domain/errors.ts';
import { isSameText } from '../../domain/same-text.ts';
import { errorPage, type Told } from '../markup/error.ts';
import { page } from '../markup/layout.ts';
import { type OnceMade, sentBefore } from '../markup/sent-before.ts';
import { Refusal } from './refusal.ts';
import type { SignedInContext } from './request-context.ts';
import { sign } from './session.ts';
import type { View } from './view.ts';

// What is shown once is the answer to a form, and each such form may be sent once: reloading the answer, going back and
// sending again, or sending from two tabs must neither show a key again nor make a second one, on whichever process. The
// act takes the form's number in its own transaction, so that a form whose act has failed can be sent again.

/** For a hidden field: a number used once, and proof that it was given to this session. */
export function newOnceId({ token }: SignedInContext): string {
  const id = randomBytes(16).toString('base64url');
  return `${id}.${sign(token, `once ${id}`)}`;
}

export type Once = {
  /** As it was sent. */
  readonly onceId: string;
  readonly made: OnceMade;
  /** Where to go from the answer that says so. */
  readonly link: NonNullable<Told['link']>;
};

/** Does what the form asks for; whoever sends it after it was done is told what it made then. */
export async function once(
  context: SignedInContext,
  { onceId, made, link }: Once,
  work: (formId: string) => Promise<View>,
): Promise<View> {
  try {
    return await work(readOnceId(context, onceId));
  } catch (error) {
    if (!(error instanceof SentBeforeError)) throw error;
    const told = { status: 409, title: 'This form was sent already', message: sentBefore(made), link };
    return page(context, { status: told.status, title: told.title, main: errorPage(told) });
  }
}

function readOnceId({ token }: SignedInContext, onceId: string): string {
  const [id = '', proof = ''] = onceId.split('.');
  if (!isSameText(proof, sign(token, `once ${id}`))) throw new Refusal('forged');
  return id;
}
