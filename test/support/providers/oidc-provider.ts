import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Adapter, type AdapterPayload, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import { listenLocally } from '../servers/port.ts';

/** A person at the provider: the subject and the other claims. */
export type Account = Readonly<Record<string, unknown>> & { readonly sub: string };

type OidcProvider = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The accounts by subject, which people type to sign in. */
  readonly accounts: Map<string, Account>;
  close(): Promise<void>;
};

const KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });

/** Starts the certified provider of the package `oidc-provider`. People type their subject on its sign-in page. */
export async function startOidcProvider(connection: {
  readonly redirectUri: string;
  readonly backChannelLogoutUri: string;
}): Promise<OidcProvider> {
  const server = createServer();
  const issuer = `http://127.0.0.1:${await listenLocally(server)}`;
  const [clientId, clientSecret] = ['charter', `secret-${crypto.randomUUID()}`];
  const accounts = new Map<string, Account>();
  const provider: Provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [connection.redirectUri],
        backchannel_logout_uri: connection.backChannelLogoutUri,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [{ ...KEY, kid: 'test', use: 'sig', alg: 'RS256' }] },
    scopes: ['openid', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    cookies: { keys: ['test'] },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource(ctx: KoaContextWithOIDC, form: string) {
          ctx.body = `<!doctype html>${form}<button form="op.logoutForm" name="logout" value="yes">Log out</button>`;
        },
        postLogoutSuccessSource(ctx: KoaContextWithOIDC) {
          ctx.body = '<!doctype html>You are logged out.';
        },
      },
    },
    adapter: inMemory(),
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    // The provider's own fetch refuses addresses of this machine.
    fetch(to, { method, headers, body } = {}) {
      return fetch(to, { method: method ?? 'GET', headers: headers ?? {}, body: body ?? null });
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ ...accounts.get(sub), sub }) }),
    // Grants access without asking people whether Charter may know who they are.
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId, accountId: oidc.session?.accountId ?? '' });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
  });
  const callback = provider.callback();
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    if (!req.url?.startsWith('/interaction/')) return void callback(req, res);
    void interact(req, res);
  });

  async function interact(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.method !== 'POST') {
      res.writeHead(200, { 'Content-Type': 'text/html' });
      res.end(
        '<!doctype html><html lang="en"><title>The provider</title><form method="post"><label>Account <input name="account" autofocus></label><button>Log in</button></form>',
      );
      return;
    }
    let body = '';
    for await (const chunk of req.setEncoding('utf8')) body += String(chunk);
    const accountId = new URLSearchParams(body).get('account') ?? '';
    const isKnown = accounts.has(accountId);
    const result = isKnown ? { login: { accountId } } : { error: 'access_denied', error_description: 'Nobody' };
    await provider.interactionFinished(req, res, result);
  }

  return {
    issuer,
    clientId,
    clientSecret,
    accounts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns a store for everything that the provider saves, by model and id. */
function inMemory(): (model: string) => Adapter {
  const rows = new Map<string, AdapterPayload>();
  return (model) => {
    const key = (id: string) => `${model} ${id}`;
    const find = async (id: string) => rows.get(key(id));
    return {
      find,
      async upsert(id, payload) {
        rows.set(key(id), payload);
      },
      async destroy(id) {
        rows.delete(key(id));
      },
      async consume(id) {
        const found = await find(id);
        if (found !== undefined) found.consumed = true;
      },
      async findByUid(uid) {
        return [...rows.values()].find((each) => each.uid === uid);
      },
      async findByUserCode() {
        return undefined;
      },
      async revokeByGrantId(grantId) {
        for (const [name, { grantId: of }] of rows) if (of === grantId) rows.delete(name);
      },
    };
  };
}
