import type { Holder } from './api-key.ts';

/** The days before the end of a key on which its holder gets a notice. */
export const NOTICE_DAYS = [30, 7, 1] as const;

/** A key gets notices of its expiry only if it was used within this number of days. */
export const USED_WITHIN_DAYS = 30;

/** The bounds of the days without a use after which an organization lets Charter end a key. */
export const MIN_UNUSED_DAYS = 7;
export const MAX_UNUSED_DAYS = 3650;

/** The days after an organization has switched the end of unused keys on, or has shortened the time, in which no key is ended. */
export const UNUSED_GRACE_DAYS = 7;

/** More refusals by a rate limit than this in an hour (UTC) are worth a notice, once a day. */
export const LIMITED_PER_HOUR = 100;

/** The days of uses from one network after which another network is new to a key. */
export const ONE_NETWORK_DAYS = 30;

/** What an organization has decided about keys in use and keys that are not. */
export type NoticeSettings = {
  /** MIN_UNUSED_DAYS to MAX_UNUSED_DAYS; `null` if Charter ends no key that is not used. */
  readonly endsUnusedAfterDays: number | null;
  /** Whether the holder of a key gets a mail when the key is used from a new network. */
  readonly tellsNewNetworks: boolean;
};

/** The kinds of notices about what somebody else did with a key. */
export type ActionKind = 'created' | 'rotated' | 'moved' | 'revoked';
/** The kinds that the dashboard shows, too. */
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
  /** When the key expires, or ends unless it is used; `null` for other kinds. */
  readonly endsAt: Date | null;
  readonly createdAt: Date;
};

/** The most notices of a user that are read for a page. */
export const MAX_SHOWN_NOTICES = 20;
