import { type Message, messageOfException, type Send, send } from './answer.ts';
import { type Answered, createConformityCheck } from './conformity.ts';
import type { Json } from './document.ts';
import { exceptionOf } from './exceptions.ts';

export type ResponseCheck = {
  /** "report": what breaks the contract is told and sent; "enforce": a 500 is sent in its place. */
  readonly mode: 'report' | 'enforce';
  /** The share of the answers that is checked, above 0 and up to 1; of one kept in memory, until it is found right. */
  readonly sampleRate: number;
};

export type BrokenAnswer = {
  readonly requestId: string;
  /** Undefined: the path is none of the contract's. */
  readonly operation: string | undefined;
  readonly status: number;
  /** They hold no value of what was to be sent. */
  readonly disagreements: readonly string[];
  readonly isWithheld: boolean;
  /**
   * How many this process has checked so far, and how many of them broke the contract; an answer in memory counts each
   * time until it is found right.
   */
  readonly checked: number;
  readonly broken: number;
};

/**
 * Holds what leaves against the document before it leaves. What a refused answer tells of has happened all the same: a
 * program whose 201 is withheld was created.
 */
export function sendChecked(
  document: Json,
  { mode, sampleRate, onBroken }: ResponseCheck & { onBroken: (broken: BrokenAnswer) => void },
): Send {
  const check = createConformityCheck(document);
  const isWithheld = mode === 'enforce';
  let [checked, broken] = [0, 0];
  /** An answer in memory is the same object each time that it leaves: right once, right always. */
  const foundRight = new WeakSet<Message>();
  return (exchange, message) => {
    if (Math.random() >= sampleRate || foundRight.has(message)) return send(exchange, message);
    const { requestId, req } = exchange;
    const { method = 'GET', url = '/' } = req;
    const isHead = method === 'HEAD';
    const { operations, disagreements } = check({ method, url }, answeredBy(message, { requestId, isHead }));
    checked += 1;
    if (disagreements.length === 0) {
      if (!isHead) foundRight.add(message);
      return send(exchange, message);
    }
    broken += 1;
    const operation = operations.map(({ operationId }) => operationId).join(', ') || undefined;
    onBroken({ requestId, operation, status: message.status, disagreements, isWithheld, checked, broken });
    send(exchange, isWithheld ? messageOfException(exceptionOf(new Error('It breaks the contract.'))) : message);
  };
}

/** What the API itself gives: other rooms put headers of their own on the 404 of a path that nobody has. */
function answeredBy(
  { status, fields, text = '' }: Message,
  { requestId, isHead }: { requestId: string; isHead: boolean },
): Answered {
  const headers: Record<string, string> = { 'x-request-id': requestId };
  for (let i = 0; i < fields.length; i += 2) headers[String(fields[i]).toLowerCase()] = String(fields[i + 1]);
  return { status, headers, text: isHead ? '' : Buffer.from(text, 'latin1').toString() };
}
