import type { KeyRecord } from './keys/api-key.ts';

/** No operation and no part of the server. */
export const NOBODY = 'none';
/** /livez and /readyz. */
export const HEALTH = 'health';

/** What the parts of the server know about a request while it is answered. Express keeps it as `res.locals`. */
export class Exchange {
  readonly requestId: string;
  /** For metrics and traces: the operation of the contract, or the part of the server, that handles the request. */
  handledBy = NOBODY;
  /** The template of the operation's path, such as /api/parent_programs/{id}; `undefined` outside of the contract. */
  route: string | undefined = undefined;
  /** For the log: the key that the request was sent with, accepted or not; `undefined` if it is not known. */
  key: Pick<KeyRecord, 'id' | 'integration'> | undefined = undefined;
  /** `false` if the request was refused under load: such refusals are counted, and have no line in the log. */
  isLogged = true;

  constructor(requestId: string) {
    this.requestId = requestId;
  }

  /** Finds the exchange of a request by its response. */
  static of(res: object): Exchange {
    if ('locals' in res && res.locals instanceof Exchange) return res.locals;
    throw new TypeError('The request has no id yet.');
  }
}
