import type { IncomingMessage } from 'node:http';

const CALLED = Symbol('called operation');

/** On the request, because its duration is known elsewhere. */
type CallingRequest = IncomingMessage & { [CALLED]?: string };

/** Notes the operation of the contract that the request calls, or the part of the server that it was passed to. */
export function noteCalled(req: CallingRequest, name: string): void {
  req[CALLED] = name;
}

/** What was noted last; undefined: nothing. */
export function calledBy(req: CallingRequest): string | undefined {
  return req[CALLED];
}
