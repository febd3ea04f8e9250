import { DomainError, type ErrorCode } from '../../domain/errors.ts';
import { isProofFresh } from '../../domain/people/session.ts';
import { prove } from '../../service/sign-in/prove.ts';
import { type Fields, type Form, readForm } from '../forms/form.ts';
import { MAX_FORM, type MaxSize, readFields } from '../http/body.ts';
import { type Problem, problemOf } from '../http/problem.ts';
import { askedUrl, type SignedInContext } from '../http/request-context.ts';
import { RequestError } from '../http/request-error.ts';
import { redirect, type View } from '../http/view.ts';
import type { Page, Post } from '../routing/page-routes.ts';
import { PROOF_FORM, proofPage, SEALED } from './page.ts';
import { askingBrowserOf, relyingPartyOf } from './passkeys.ts';
import { openForm, sealForm } from './sealed-form.ts';

// Forms and pages that need a fresh proof of who the person is. Routes use `provenForm` in place of `form`, and `provenPage`
// around the function of a page. Without a proof, the response is a page that asks for a proof. The form on that page goes to the
// same URL and contains the form that was sent before. A proof is valid for ten minutes, for all forms of the session.

/** The maximum size of a form with a proof: 10 KiB of a sealed form in base64, and the response of a passkey. */
export const MAX_PROVEN: MaxSize = { bytes: 24 * 1024, error: 'too-large' };

/** Redirects to the page that asked for the proof. */
const toPage = (context: SignedInContext) => redirect(askedUrl(context));

type Options = {
  /** Returns the name of the key, user or other subject in the path. The page that asks for the proof shows the name. */
  readonly nameOf?: NameOf;
  /**
   * Returns the response after the proof if the proof was for a page or a file, not for a form. The default is a redirect to that
   * page.
   */
  readonly then?: typeof toPage;
  /** Whether `handle` waits for another server. If so, `handle` itself calls `inTurn` when it needs the database. */
  readonly callsInTurn?: boolean;
};

/**
 * Returns the handler of a form that needs a fresh proof. `purpose` is what the person is about to do, such as "revoke the API
 * key". The result of `nameOf` is added to it.
 */
export function provenForm<F extends Fields>(
  purpose: string,
  fields: F,
  handle: (context: SignedInContext, form: Form<F>) => Promise<View>,
  { then = toPage, callsInTurn = false, nameOf }: Options = {},
): Post<SignedInContext> {
  return async (context, req) => {
    const sent = await readFields(req, context, MAX_PROVEN);
    const proof = sent.has(SEALED) ? readForm(PROOF_FORM, sent, context) : null;
    if (proof === null && Buffer.byteLength(sent.toString()) > MAX_FORM.bytes) throw new RequestError('too-large');
    const kept = proof === null ? sent : openForm(context, proof.values.sealedForm).form;
    return async (current) => {
      const act = async (proof: Proof) => {
        if (proof.kind === 'missing') return proof.view;
        return kept === null ? then(proof.context) : handle(proof.context, readForm(fields, kept, proof.context));
      };
      const proving = () => requireProof(current, { purpose, nameOf, kept, proof });
      return callsInTurn ? act(await current.inTurn(proving)) : current.inTurn(async () => act(await proving()));
    };
  };
}

/**
 * Returns the function of a page or a file that needs a fresh proof. The route's `post` must come from `provenForm` or `proofOf`,
 * to receive the proof.
 */
export function provenPage(
  purpose: string,
  get: (context: SignedInContext) => Promise<View>,
): NonNullable<Page<SignedInContext>['get']> {
  return async (context) => {
    const proof = await requireProof(context, { purpose, nameOf: undefined, kept: null, proof: null });
    return proof.kind === 'missing' ? proof.view : get(proof.context);
  };
}

/** Returns a `post` that accepts only the proof, for the route of a file. */
export function proofOf(purpose: string, then: (context: SignedInContext) => View): Post<SignedInContext> {
  const refuse = async () => {
    throw new RequestError('wrong-method');
  };
  return provenForm(purpose, {}, refuse, { then });
}

type NameOf = (context: SignedInContext) => Promise<string>;

type Asked = {
  readonly purpose: string;
  readonly nameOf: NameOf | undefined;
  /** The form that was sent before the proof; `null` if a page was requested. */
  readonly kept: URLSearchParams | null;
  /** The form with the proof; `null` if no proof was sent. */
  readonly proof: Form<typeof PROOF_FORM> | null;
};

type Proof =
  | { readonly kind: 'fresh'; readonly context: SignedInContext }
  /** `view` is the page that asks for the proof. */
  | { readonly kind: 'missing'; readonly view: View };

async function requireProof(context: SignedInContext, { purpose, nameOf, kept, proof }: Asked): Promise<Proof> {
  const { dashboard, actor, token, now, provedAt } = context;
  if (isProofFresh(provedAt, now)) return { kind: 'fresh', context };
  const ask = async (problem: Problem | null): Promise<Proof> => {
    const named = await withName(context, { purpose, nameOf });
    const sealed = sealForm(context, { purpose: named, form: kept });
    return { kind: 'missing', view: await proofPage(context, { purpose: named, sealed, problem }) };
  };
  if (proof === null) return ask(null);
  const given = readProof(context, proof);
  if (given === null) return ask(null);
  const outcome = await prove(dashboard.db, actor, { given, token, now });
  return outcome.kind === 'proven'
    ? { kind: 'fresh', context: { ...context, provedAt: now } }
    : ask(problemOf(outcome));
}

/**
 * The errors for people who may not see the subject in the path. For them, the page that asks for the proof leaves out the name.
 * The request is refused after the proof.
 */
const UNSEEN: readonly ErrorCode[] = ['forbidden', 'not_found'];

async function withName(
  context: SignedInContext,
  { purpose, nameOf }: Pick<Asked, 'purpose' | 'nameOf'>,
): Promise<string> {
  if (nameOf === undefined) return purpose;
  try {
    return `${purpose} “${await nameOf(context)}”`;
  } catch (error) {
    if (error instanceof DomainError && UNSEEN.includes(error.code)) return purpose;
    throw error;
  }
}

/**
 * Returns the proof in the form. Returns `null` if the form contains none because the proof took place at the identity provider.
 */
function readProof(context: SignedInContext, form: NonNullable<Asked['proof']>) {
  const { credential, proofPassword, proofCode } = form.values;
  if (credential === undefined)
    return proofPassword === undefined
      ? null
      : ({ kind: 'password', password: proofPassword, code: proofCode } as const);
  const site = relyingPartyOf(context);
  if (site.kind === 'none') return null;
  const { relyingParty } = site;
  return { kind: 'passkey', credential, relyingParty, browser: askingBrowserOf(context) } as const;
}
