import { type CheckedResponse, createConformityCheck } from '../contract/conformity.ts';
import type { Json } from '../contract/document.ts';
import { exceptionOf } from './exceptions.ts';
import { type RawResponse, renderException, type Send } from './response.ts';

export type ResponseCheck = {
  /**
   * What happens to a response that breaks the contract. "report": it is reported and sent. "enforce": a 500 is sent in its
   * place.
   */
  readonly mode: 'report' | 'enforce';
  /** The share of responses to check, above 0 and up to 1. A cached response that has passed is not checked again. */
  readonly sampleRate: number;
};

export type BrokenResponse = {
  readonly requestId: string;
  /** The operation; `undefined` if the contract has no such path. */
  readonly operation: string | undefined;
  readonly status: number;
  /** The differences from the contract. They contain no values of the response. */
  readonly disagreements: readonly string[];
  readonly isWithheld: boolean;
  /**
   * The number of responses that this process has checked so far. A cached response that has passed is not checked, or counted,
   * again.
   */
  readonly checked: number;
  /** The number of checked responses that broke the contract. */
  readonly broken: number;
};

/**
 * Returns a `send` that first checks the response against the document. If a response is withheld, the effect of the request is
 * not undone: a program whose 201 is withheld was created.
 */
export function createCheckedSend(
  document: Json,
  { mode, sampleRate, send, onBroken }: ResponseCheck & { send: Send; onBroken: (broken: BrokenResponse) => void },
): Send {
  const check = createConformityCheck(document);
  const isWithheld = mode === 'enforce';
  let [checked, broken] = [0, 0];
  /**
   * The cached responses that have passed. A cached response is the same object each time it is sent, so it needs to pass only
   * once.
   */
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

/**
 * Returns the response to check, with only the headers that the API itself sets. Other routes add headers to the 404 for an
 * unknown path.
 */
function checkedResponseOf(
  { status, fields, text = '' }: RawResponse,
  { requestId, isHead, limits }: { requestId: string; isHead: boolean; limits: readonly string[] },
): CheckedResponse {
  const headers: Record<string, string> = { 'x-request-id': requestId };
  const all = [...limits, ...fields];
  for (let i = 0; i < all.length; i += 2) headers[String(all[i]).toLowerCase()] = String(all[i + 1]);
  return { status, headers, text: isHead ? '' : Buffer.from(text, 'latin1').toString() };
}
