import { isIP, type LookupFunction } from 'node:net';
import type { ResolveName } from './resolve-name.ts';

// Connections to hosts that organizations choose, such as the receivers of webhooks and identity providers.

/** The message for the organization's administrators. It does not contain the address, because an address can be internal. */
export const FORBIDDEN = 'Charter must not connect to the address of this host.';
export const NO_RESPONSE = 'No response';

/** Returns a look-up function that gives a connection only those addresses of a host name that are not forbidden. */
export function createCheckedLookup(resolve: ResolveName, isForbidden: (address: string) => boolean): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (found) => {
        const addresses = found
          .filter((address) => !isForbidden(address))
          .map((address) => ({ address, family: isIP(address) }));
        const [first] = addresses;
        if (first === undefined) callback(new Error(FORBIDDEN), '');
        else if (all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, ''),
    );
  };
}

const MAX_CHARACTERS = 300;

const DNS_FAILED = 'DNS failed to look up the host.';
const HOST_UNKNOWN = 'The host has no address in DNS.';
const DNS_SILENT = 'DNS did not respond.';
const UNREACHABLE = 'The host cannot be reached.';
const CUT = 'The connection was closed before the response.';
const UNKNOWN = 'The connection failed.';

const WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: HOST_UNKNOWN,
  ENODATA: HOST_UNKNOWN,
  EBADNAME: HOST_UNKNOWN,
  ESERVFAIL: DNS_FAILED,
  ETIMEOUT: DNS_SILENT,
  ECONNREFUSED: 'The host refused the connection.',
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EADDRNOTAVAIL: UNREACHABLE,
  ETIMEDOUT: 'The host did not accept the connection.',
  ECONNRESET: CUT,
  EPIPE: CUT,
  EPROTO: 'The host does not accept TLS connections.',
};

/** The codes of errors of the operating system and of DNS, such as EACCES. The messages of such errors contain the address. */
const SYSTEM_CODE = /^E[A-Z0-9]+$/;
/** The codes of errors of OpenSSL. Their messages begin with an address in the memory of this process. */
const OPENSSL_CODE = /^ERR_SSL_/;

type Failure = Pick<NodeJS.ErrnoException, 'code' | 'syscall' | 'message'>;

/** Returns why there was no response, in 1 to 300 characters. */
export function describeFailure(failure: Failure): string {
  // The text after a semicolon is omitted, because there Node gives advice to operators.
  const [reason = ''] = wordsOf(failure).split('; ');
  return reason.replaceAll('\0', '').slice(0, MAX_CHARACTERS).toWellFormed() || UNKNOWN;
}

function wordsOf({ code = '', syscall = '', message }: Failure): string {
  // DNS queries have the syscalls "queryA" and "queryAaaa". If they fail with ECONNREFUSED, the connection was refused by the
  // name server, not by the host.
  const isOfDns = syscall.startsWith('query');
  const words = isOfDns && code === 'ECONNREFUSED' ? DNS_FAILED : WORDS[code];
  if (words !== undefined) return words;
  if (isOfDns) return DNS_FAILED;
  if (SYSTEM_CODE.test(code)) return `The connection failed (${code}).`;
  return OPENSSL_CODE.test(code) ? `The TLS handshake failed (${code}).` : message;
}
