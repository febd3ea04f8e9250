import { isIP } from 'node:net';

/** The site to which passkeys belong, as WebAuthn calls it. Browsers use a passkey only there. */
export type RelyingParty = {
  /** A host name. */
  readonly id: string;
  /** Where the pages with the passkeys are, such as https://charter.example.org. */
  readonly origin: string;
};

/** Why there are no passkeys at an address; `instead`: an address where there are, if it is known. */
export type NoRelyingParty = {
  readonly kind: 'none';
  readonly why: 'ip-address' | 'insecure' | 'not-configured';
  readonly instead: string | null;
};

export type RelyingPartyCheck = { readonly kind: 'usable'; readonly relyingParty: RelyingParty } | NoRelyingParty;

/**
 * The site at `origin`. `isConfigured`: the operator has set the origin. Otherwise a client has named it, and only "localhost"
 * is accepted, for a demonstration.
 */
export function relyingPartyAt(origin: string, { isConfigured }: { isConfigured: boolean }): RelyingPartyCheck {
  if (!URL.canParse(origin)) return { kind: 'none', why: 'not-configured', instead: null };
  const url = new URL(origin);
  const { hostname, protocol } = url;
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    const isLoopback = hostname.startsWith('127.') || hostname === '[::1]';
    const localhost = new URL(url.origin);
    localhost.hostname = 'localhost';
    return { kind: 'none', why: 'ip-address', instead: isLoopback && !isConfigured ? localhost.origin : null };
  }
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (!isLocal && !isConfigured) return { kind: 'none', why: 'not-configured', instead: null };
  if (!isLocal && protocol !== 'https:') return { kind: 'none', why: 'insecure', instead: null };
  return { kind: 'usable', relyingParty: { id: hostname, origin: url.origin } };
}
