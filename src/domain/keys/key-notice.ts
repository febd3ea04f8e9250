import type { Holder } from './api-key.ts';

/** The numbers of days before the end of a key at which its holder gets a notice. */
export const NOTICE_DAYS = [30, 7, 1] as const;

/** A key gets notices of its expiry only if it was used within this number of days. */
export const USED_WITHIN_DAYS = 30;

/** The smallest and the largest number of days without a use after which an organization can let Charter end a key. */
export const MIN_UNUSED_DAYS = 7;
export const MAX_UNUSED_DAYS = 3650;

/**
 * The number of days for which no unused key is ended. The period begins when an organization starts to end unused keys, or
 * shortens the time after which unused keys are ended.
 */
export const UNUSED_GRACE_DAYS = 7;

/** A notice is created, at most once a day, if rate limits refuse more than this number of requests in an hour (UTC). */
export const LIMITED_PER_HOUR = 100;

/**
 * The number of days for which a key must have been used from one network only before a use from another network causes a notice.
 */
export const ONE_NETWORK_DAYS = 30;

export type NoticeSettings = {
  /**
   * The days without a use after which a key is ended, from MIN_UNUSED_DAYS to MAX_UNUSED_DAYS; `null` if unused keys are not
   * ended.
   */
  readonly endsUnusedAfterDays: number | null;
  /** Whether the holder of a key gets a mail when the key is used from a new network. */
  readonly tellsNewNetworks: boolean;
};

/** The kinds of notices about an action of somebody else on a key. */
export type ActionKind = 'created' | 'rotated' | 'moved' | 'revoked';
/** The kinds of notices that the dashboard shows, too. */
export type ShownKind = 'expires' | 'unused' | 'ended' | 'limited';
export type NoticeKind = ActionKind | ShownKind | 'new_network';

/** A notice as the dashboard shows it. */
export type KeyNotice = {
  readonly id: string;
  readonly kind: ShownKind;
  readonly keyId: string;
  readonly keyName: string;
  readonly keyPrefix: string;
  readonly holder: Pick<Holder, 'id' | 'kind' | 'name'>;
  /** When the key expires, or ends unless it is used; `null` for other kinds of notices. */
  readonly endsAt: Date | null;
  readonly createdAt: Date;
};

/** The maximum number of a user's notices that are read for a page. */
export const MAX_SHOWN_NOTICES = 20;
