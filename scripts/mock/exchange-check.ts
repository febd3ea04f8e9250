import type { IncomingMessage } from 'node:http';
import { type CheckedResponse, createConformityCheck, type Finding } from '../../src/contract/conformity.ts';
import type { Document } from '../../src/contract/contract.ts';
import { createRequestCheck, type Refusal } from './request-check.ts';

/** A request with its body, and a server's response to it. */
export type Exchange = { readonly req: IncomingMessage; readonly body: Buffer; readonly response: CheckedResponse };

/** Refusals that never depend on the server's data. */
const INDEPENDENT_OF_DATA = [400, 405, 406, 413, 414, 415];
/** Refusals that a server may always send: for the state or the limits of the key, or for a problem of the server itself. */
const ALWAYS_ALLOWED = [401, 403, 429, 500, 503];

/** Checks that a response is the contract's, and that the server refuses what the contract forbids and nothing else. */
export async function createExchangeCheck(document: Document): Promise<(exchange: Exchange) => Promise<Finding>> {
  const checkResponse = createConformityCheck({ ...document });
  const checkRequest = await createRequestCheck(document);
  return async ({ req, body, response }) => {
    const { method = 'GET', url = '/' } = req;
    const finding = checkResponse({ method, url }, response);
    if (finding.operations.length === 0) return finding;
    const disagreement = refusalDisagreement(await checkRequest(req, body), response.status);
    if (disagreement === null) return finding;
    return { ...finding, disagreements: [...finding.disagreements, disagreement] };
  };
}

/** `refusal` is the contract's, null where it allows the request; `status` is the server's. */
function refusalDisagreement(refusal: Refusal | null, status: number): string | null {
  if (refusal === null) {
    return INDEPENDENT_OF_DATA.includes(status)
      ? `the contract allows this request, but the server refuses it with ${status}.`
      : null;
  }
  if (status === refusal.status || ALWAYS_ALLOWED.includes(status)) return null;
  const forbids = `the contract forbids this request (${refusal.status}: ${refusal.message})`;
  return status < 400
    ? `${forbids}, but the server accepts it.`
    : `${forbids}, but the server responds with ${status}.`;
}
