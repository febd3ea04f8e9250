import { STATUS_CODES } from 'node:http';
import { readDocument } from '../../src/contract/contract.ts';
import { type Json, webhooksOf } from '../../src/contract/document.ts';
import { TIMEOUT_SECONDS } from '../../src/delivery/sender.ts';
import { stringifyJson } from '../../src/domain/resources/json.ts';
import { signatureOf } from '../../src/domain/webhooks/webhook-message.ts';
import { printable } from './request-log.ts';

type Sending = {
  readonly receiver: URL;
  /** The bytes of the secret with which the events are signed. */
  readonly secret: Uint8Array;
  /** Called with one line for each event. */
  readonly print: (line: string) => void;
};

/**
 * Sends every example of the contract's webhooks to the receiver, one after the other, each signed as Charter would sign it.
 * Resolves to whether all responses were 2xx. Stops at the first event without a response.
 */
export async function sendEvents({ receiver, secret, print }: Sending): Promise<boolean> {
  const document = { ...(await readDocument()) };
  let isFine = true;
  for (const event of eventsIn(document)) {
    const result = await send(event, { receiver, secret, version: String(Object(document['info']).version) });
    isFine &&= result.isReceived;
    print(`${result.isReceived ? ' ' : '!'} ${event['type']}: ${result.words}`);
    if (!result.isReached) break;
  }
  return isFine;
}

/** Returns the examples in the bodies of the webhooks, in the document's order. */
function eventsIn(document: Json): Json[] {
  return webhooksOf(document).flatMap(({ requestBody }) =>
    Object.values(requestBody?.content['application/json']?.examples ?? {}).map(({ value }) => Object(value)),
  );
}

type Result = { readonly isReached: boolean; readonly isReceived: boolean; readonly words: string };

async function send(
  event: Json,
  { receiver, secret, version }: Pick<Sending, 'receiver' | 'secret'> & { version: string },
): Promise<Result> {
  const body = stringifyJson(event);
  const message = { id: String(event['id']), timestamp: Math.floor(Date.now() / 1000), body };
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': `Charter/${version}`,
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': signatureOf(message, [secret]),
  };
  const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1000);
  try {
    const response = await fetch(receiver, { method: 'POST', headers, body, redirect: 'manual', signal });
    return resultOf(response.status, await response.text());
  } catch (error) {
    const reason = signal.aborted
      ? `did not respond within ${TIMEOUT_SECONDS} seconds`
      : `cannot be reached (${reasonOf(error)}). Start it, and check the URL`;
    return { isReached: false, isReceived: false, words: `the receiver at ${receiver.origin} ${reason}.` };
  }
}

function resultOf(status: number, text: string): Result {
  const advice =
    status === 410
      ? ' Charter would disable this endpoint.'
      : status >= 300 && status < 400
        ? ' Charter does not follow redirects.'
        : '';
  const shown = text.trim() === '' ? '' : `: ${printable(text.trim())}`;
  return {
    isReached: true,
    isReceived: status >= 200 && status < 300,
    words: `${status} ${STATUS_CODES[status] ?? ''}${shown}${advice === '' ? '' : `.${advice}`}`.trim(),
  };
}

/** Returns the cause of the error "fetch failed". */
function reasonOf(error: unknown): string {
  const { cause, message } = Object(error);
  return printable(String(Object(cause).message || Object(cause).code || message));
}
