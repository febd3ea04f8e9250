import { createHash, createHmac, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeNow, listenLocally } from '../servers/port.ts';

// An identity provider that issues what a test tells it to, even what no honest provider would issue.

export type TestPerson = Readonly<Record<string, unknown>> & { readonly sub: string };

/** Changes to an ID token or a logout token. */
export type Making = {
  /** Additional claims; `undefined` removes a claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** How the token is signed. "foreign" uses a key that is not published; "client secret" uses HS256. */
  readonly signature?: 'right' | 'none' | 'foreign' | 'client secret' | 'public key';
};

type Grant = {
  readonly person: TestPerson;
  readonly nonce: string | null;
  readonly challenge: string | null;
  readonly redirectUri: string | null;
  readonly maxAge: string | null;
  readonly making: Making;
};

type Override = (res: ServerResponse, path: string) => boolean | Promise<boolean>;

type IdentityProvider = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The paths of all requests. */
  readonly requested: string[];
  /** Additional metadata; `undefined` removes a member. */
  metadata: Record<string, unknown>;
  /** A function that is called first for each request. Returns true if it has sent the response. */
  override: Override | null;
  /** Whether the token endpoint checks the code verifier, as an honest provider must. */
  checksVerifier: boolean;
  /** Signs the person in, and returns the path that the browser is sent back to. */
  authorize(url: string, person: TestPerson, making?: Making): string;
  /** Returns an authorization code for the request in this URL. */
  codeFor(url: string, person: TestPerson, making?: Making): string;
  logoutToken(claims: Readonly<Record<string, unknown>>, making?: Omit<Making, 'claims'>): string;
  close(): Promise<void>;
} & AsyncDisposable;

const [ours, foreign] = [
  generateKeyPairSync('rsa', { modulusLength: 2048 }),
  generateKeyPairSync('rsa', { modulusLength: 2048 }),
];

export async function useIdentityProvider(): Promise<IdentityProvider> {
  const provider = await startIdentityProvider();
  afterAll(() => provider.close());
  return provider;
}

/** Starts a provider. `path` is the path of its issuer, such as "/tenant/". */
export async function startIdentityProvider(path = ''): Promise<IdentityProvider> {
  const grants = new Map<string, Grant>();
  const server = createServer((req, res) => void answer(req, res));
  const origin = `http://127.0.0.1:${await listenLocally(server)}`;
  const issuer = origin + path;
  const [clientId, clientSecret] = ['charter', `secret-${randomBytes(16).toString('hex')}`];
  const now = () => Math.floor(Date.now() / 1000);

  const provider: IdentityProvider = {
    issuer,
    clientId,
    clientSecret,
    requested: [],
    metadata: {},
    override: null,
    checksVerifier: true,
    codeFor(url, person, making = {}) {
      const { searchParams: sent } = new URL(url);
      const code = randomBytes(16).toString('hex');
      grants.set(code, {
        person,
        nonce: sent.get('nonce'),
        challenge: sent.get('code_challenge'),
        redirectUri: sent.get('redirect_uri'),
        maxAge: sent.get('max_age'),
        making,
      });
      return code;
    },
    authorize(url, person, making = {}) {
      const { searchParams: sent } = new URL(url);
      const back = new URL(sent.get('redirect_uri') ?? '');
      back.searchParams.set('code', provider.codeFor(url, person, making));
      back.searchParams.set('state', sent.get('state') ?? '');
      back.searchParams.set('iss', issuer);
      return back.pathname + back.search;
    },
    logoutToken(claims, making = {}) {
      const all = {
        iss: issuer,
        aud: clientId,
        iat: now(),
        exp: now() + 120,
        jti: randomBytes(16).toString('hex'),
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
        ...claims,
      };
      return jwt(all, { header: { typ: 'logout+jwt' }, ...making }, clientSecret);
    },
    close: () => closeNow(server),
    [Symbol.asyncDispose]: () => closeNow(server),
  };

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of req.setEncoding('utf8')) body += String(chunk);
    const { pathname } = new URL(req.url ?? '/', origin);
    provider.requested.push(pathname);
    if ((await provider.override?.(res, pathname)) === true) return;
    const json = (status: number, content: unknown) => {
      res.writeHead(status, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify(content));
    };
    switch (pathname) {
      case `${path.replace(/\/$/, '')}/.well-known/openid-configuration`:
        return json(200, {
          issuer,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          jwks_uri: `${origin}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          authorization_response_iss_parameter_supported: true,
          scopes_supported: ['openid', 'email', 'profile', 'groups'],
          ...provider.metadata,
        });
      case '/keys':
        return json(200, {
          keys: [{ ...ours.publicKey.export({ format: 'jwk' }), kid: 'ours', use: 'sig', alg: 'RS256' }],
        });
      case '/token':
        return token(req, new URLSearchParams(body), json);
      default:
        return json(404, { error: 'not_found' });
    }
  }

  function token(req: IncomingMessage, sent: URLSearchParams, json: (status: number, content: unknown) => void): void {
    const basic = Buffer.from(req.headers.authorization?.slice('Basic '.length) ?? '', 'base64').toString();
    if (decodeURIComponent(basic) !== `${clientId}:${clientSecret}`) return void json(401, { error: 'invalid_client' });
    const grant = grants.get(sent.get('code') ?? '');
    grants.delete(sent.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(sent.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      grant !== undefined &&
      (!provider.checksVerifier || grant.challenge === challenge) &&
      grant.redirectUri === sent.get('redirect_uri');
    if (grant === undefined || !isRight) return void json(400, { error: 'invalid_grant' });
    const claims = {
      iss: issuer,
      aud: clientId,
      iat: now(),
      exp: now() + 300,
      ...(grant.nonce !== null && { nonce: grant.nonce }),
      // OpenID Connect Core, section 3.1.2.1, requires `auth_time` with `max_age`.
      ...(grant.maxAge !== null && { auth_time: now() }),
      ...grant.person,
      ...grant.making.claims,
    };
    json(200, { access_token: 'access', token_type: 'Bearer', id_token: jwt(claims, grant.making, clientSecret) });
  }

  return provider;
}

function jwt(claims: object, { header = {}, signature = 'right' }: Making, clientSecret: string): string {
  const alg = { right: 'RS256', foreign: 'RS256', none: 'none', 'client secret': 'HS256', 'public key': 'HS256' }[
    signature
  ];
  const parts = [{ alg, kid: 'ours', typ: 'JWT', ...header }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const text = parts.join('.');
  const rsa = (key: KeyObject) => createSign('RSA-SHA256').update(text).sign(key, 'base64url');
  const hmac = (secret: string) => createHmac('sha256', secret).update(text).digest('base64url');
  const signatures = {
    right: () => rsa(ours.privateKey),
    foreign: () => rsa(foreign.privateKey),
    none: () => '',
    'client secret': () => hmac(clientSecret),
    'public key': () => hmac(String(ours.publicKey.export({ type: 'spki', format: 'pem' }))),
  };
  return `${text}.${signatures[signature]()}`;
}
