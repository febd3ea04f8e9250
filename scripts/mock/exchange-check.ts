import type { IncomingMessage } from 'node:http';
import type { CheckedResponse, ConformityCheck, Finding } from '../../src/api/conformity.ts';
import type { Judge } from './judge.ts';

/** Refusals for which what the server holds is never the reason. */
const OF_THE_REQUEST_ALONE = [400, 405, 406, 413, 414, 415];
/** What a server may say first, whatever else is wrong with a request: of the key's state, and of its own. */
const BEFORE_ALL = [401, 403, 500, 503];

export type Exchanged = { readonly req: IncomingMessage; readonly body: Buffer; readonly answered: CheckedResponse };

/** Holds an answer against the contract, and whether the request should have been refused or should not. */
export async function compare(
  exchanged: Exchanged,
  { judge, check }: { judge: Judge; check: ConformityCheck },
): Promise<Finding> {
  const { method = 'GET', url = '/' } = exchanged.req;
  const { operations, disagreements } = check({ method, url }, exchanged.answered);
  const ofTheRequest = operations.length === 0 ? null : await judgedOtherwise(exchanged, judge);
  return { operations, disagreements: ofTheRequest === null ? disagreements : [...disagreements, ofTheRequest] };
}

/** Null: the server has judged the request as the contract does, or for a reason of its own. */
async function judgedOtherwise({ req, body, answered: { status } }: Exchanged, judge: Judge): Promise<string | null> {
  const refusal = await judge.refusalOf(req, body);
  if (refusal === null) {
    return OF_THE_REQUEST_ALONE.includes(status)
      ? `the contract allows this request, but the server refuses it with ${status}.`
      : null;
  }
  if (status === refusal.status || BEFORE_ALL.includes(status)) return null;
  const forbids = `the contract forbids this request (${refusal.status}: ${refusal.message})`;
  return status < 400 ? `${forbids}, but the server accepts it.` : `${forbids}, but the server answers ${status}.`;
}
