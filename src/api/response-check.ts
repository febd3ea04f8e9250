import { type CheckedResponse, createConformityCheck } from '../contract/conformity.ts';
import type { Json } from '../contract/document.ts';
import { exceptionOf } from './exceptions.ts';
import { type RawResponse, renderException, type Send } from './response.ts';

export type ResponseCheck = {
  /** "report" reports a response that breaks the contract and sends it; "enforce" sends a 500 in its place. */
  readonly mode: 'report' | 'enforce';
  /** Share of the responses that is checked, above 0 and up to 1. A cached response is not checked again once it passed. */
  readonly sampleRate: number;
};

export type BrokenResponse = {
  readonly requestId: string;
  /** `undefined` if the contract has no such path. */
  readonly operation: string | undefined;
  readonly status: number;
  /** They hold no value of the response. */
  readonly disagreements: readonly string[];
  readonly isWithheld: boolean;
  /** Responses that this process has checked so far; a cached one counts until it has passed. */
  readonly checked: number;
  /** Responses among them that broke the contract. */
  readonly broken: number;
};

/**
 * Checks responses against the document before they are sent. A withheld response does not undo what the request did: a
 * program whose 201 is withheld was created.
 */
export function createCheckedSend(
  document: Json,
  { mode, sampleRate, send, onBroken }: ResponseCheck & { send: Send; onBroken: (broken: BrokenResponse) => void },
): Send {
  const check = createConformityCheck(document);
  const isWithheld = mode === 'enforce';
  let [checked, broken] = [0, 0];
  /** A cached response is the same object each time that it is sent, so it needs to pass only once. */
  const passed = new WeakSet<RawResponse>();
  return (request, response) => {
    if (Math.random() >= sampleRate || passed.has(response)) return send(request, response);
    const { method, url, rateLimitFields: limits } = request;
    const { requestId } = request.exchange;
    const isHead = method === 'HEAD';
    const { operations, disagreements } = check(
      { method, url },
      checkedResponseOf(response, { requestId, isHead, limits }),
    );
    checked += 1;
    if (disagreements.length === 0) {
      if (!isHead) passed.add(response);
      return send(request, response);
    }
    broken += 1;
    const operation = operations.map(({ operationId }) => operationId).join(', ') || undefined;
    onBroken({ requestId, operation, status: response.status, disagreements, isWithheld, checked, broken });
    send(request, isWithheld ? renderException(exceptionOf(new Error('The response breaks the contract.'))) : response);
  };
}

/** The response as the API makes it. Other routes set headers of their own on the 404 of an unknown path. */
function checkedResponseOf(
  { status, fields, text = '' }: RawResponse,
  { requestId, isHead, limits }: { requestId: string; isHead: boolean; limits: readonly string[] },
): CheckedResponse {
  const headers: Record<string, string> = { 'x-request-id': requestId };
  const all = [...limits, ...fields];
  for (let i = 0; i < all.length; i += 2) headers[String(all[i]).toLowerCase()] = String(all[i + 1]);
  return { status, headers, text: isHead ? '' : Buffer.from(text, 'latin1').toString() };
}
