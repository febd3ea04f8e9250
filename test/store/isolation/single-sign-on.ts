import { randomBytes } from 'node:crypto';
import type { Database } from '../../../src/store/database.ts';
import { placeOfClientSecret } from '../../../src/store/secrets.ts';
import {
  deleteSsoConnection,
  findSsoConnection,
  findSsoEnforcement,
  lockSsoConnection,
  saveSsoConnection,
  setSsoEnforced,
  setSsoRules,
  shareSsoConnection,
} from '../../../src/store/sso-connections.ts';
import {
  deleteSsoDomain,
  hasVerifiedSsoDomain,
  insertSsoDomain,
  listSsoDomains,
  verifySsoDomain,
} from '../../../src/store/sso-domains.ts';
import {
  deleteSsoIdentities,
  deleteSsoIdentity,
  findSsoUser,
  findUserIdByEmail,
  hasSsoIdentity,
  insertSsoIdentity,
} from '../../../src/store/sso-identities.ts';
import {
  deleteSsoSignIn,
  deleteSsoSignIns,
  deleteUnconfirmed,
  findSsoSignIn,
  insertSsoSignIn,
} from '../../../src/store/sso-sign-ins.ts';
import type { Tenant } from '../../support/postgres/store.ts';
import type { Proofs } from './proof.ts';

const AT = new Date('2026-05-04T12:00:00.000Z');
const ISSUER = 'https://login.example';

async function connect(db: Database, { scope }: Pick<Tenant, 'scope'>): Promise<void> {
  const clientSecret = db.keyring.encrypt(randomBytes(32), placeOfClientSecret(scope.organizationId));
  await saveSsoConnection(db.prisma, scope, { issuer: ISSUER, clientId: 'charter', clientSecret });
}

async function link(db: Database, tenant: Tenant, subject = 'ada'): Promise<void> {
  const { scope, userId } = tenant;
  await insertSsoIdentity(db.prisma, scope, { userId, issuer: ISSUER, subject, linkedAt: AT });
}

const key = () => ({ tokenHash: randomBytes(32), browserHash: randomBytes(32) });
const SIGN_IN = {
  issuer: ISSUER,
  next: '/profile',
  email: '',
  sealedForm: null,
  linkHash: null,
  person: null,
  createdAt: AT,
};

async function rowsOf({ prisma }: Database, { scope: { organizationId } }: Tenant): Promise<string> {
  const where = { organizationId };
  return JSON.stringify([
    await prisma.ssoConnection.findMany({ where }),
    await prisma.ssoDomain.findMany({ where }),
    await prisma.ssoGroupRole.findMany({ where }),
    await prisma.ssoIdentity.findMany({ where }),
    await prisma.ssoSignIn.findMany({ where }),
  ]);
}

export const ssoConnectionProofs: Proofs = {
  async findSsoConnection({ db, ours, theirs }) {
    await connect(db, theirs);
    expect(await findSsoConnection(db.prisma, ours.scope)).toBeNull();
  },

  async lockSsoConnection({ db, ours, theirs }) {
    await connect(db, theirs);
    expect(await lockSsoConnection(db.prisma, ours.scope)).toBeNull();
  },

  async shareSsoConnection({ db, ours, theirs }) {
    await connect(db, theirs);
    expect(await shareSsoConnection(db.prisma, ours.scope)).toBeNull();
  },

  async findSsoEnforcement({ db, ours, theirs }) {
    await connect(db, theirs);
    await connect(db, ours);
    await setSsoEnforced(db.prisma, theirs.scope, { enforcedAt: AT, breakGlassUserId: theirs.userId });
    expect(await findSsoEnforcement(db.prisma, ours.scope)).toBeNull();
  },

  async saveSsoConnection({ db, ours, theirs }) {
    await connect(db, theirs);
    const before = await rowsOf(db, theirs);
    await connect(db, ours);
    expect(await rowsOf(db, theirs)).toBe(before);
  },

  async deleteSsoConnection({ db, ours, theirs }) {
    await connect(db, theirs);
    await link(db, theirs);
    const before = await rowsOf(db, theirs);
    expect(await deleteSsoConnection(db.prisma, ours.scope)).toBe(false);
    await connect(db, ours);
    expect(await deleteSsoConnection(db.prisma, ours.scope)).toBe(true);
    expect(await rowsOf(db, theirs)).toBe(before);
  },

  async setSsoRules({ db, ours, theirs }) {
    const rules = {
      newPeopleRole: 'member',
      groupsClaim: 'groups',
      groupRoles: [{ groupName: 'a', role: 'manager' }],
    } as const;
    await connect(db, theirs);
    await setSsoRules(db.prisma, theirs.scope, rules);
    const before = await rowsOf(db, theirs);
    await expect(setSsoRules(db.prisma, ours.scope, rules)).rejects.toThrow();
    await connect(db, ours);
    await setSsoRules(db.prisma, ours.scope, { ...rules, groupRoles: [] });
    expect(await rowsOf(db, theirs)).toBe(before);
  },

  async setSsoEnforced({ db, ours, theirs }) {
    await connect(db, theirs);
    const before = await rowsOf(db, theirs);
    const enforced = { enforcedAt: AT, breakGlassUserId: ours.userId };
    await expect(setSsoEnforced(db.prisma, ours.scope, enforced)).rejects.toThrow();
    await connect(db, ours);
    await setSsoEnforced(db.prisma, ours.scope, enforced);
    expect(await rowsOf(db, theirs)).toBe(before);
    // The attack: a break-glass administrator of another organization.
    const foreign = { ...enforced, breakGlassUserId: theirs.userId };
    await expect(setSsoEnforced(db.prisma, ours.scope, foreign)).rejects.toThrow();
  },
};

export const ssoDomainProofs: Proofs = {
  async listSsoDomains({ db, ours, theirs }) {
    await insertSsoDomain(db.prisma, theirs.scope, { domain: 'a.example', token: 't'.repeat(32) });
    expect(await listSsoDomains(db.prisma, ours.scope)).toEqual([]);
  },

  async insertSsoDomain({ db, ours, theirs }) {
    await insertSsoDomain(db.prisma, theirs.scope, { domain: 'b.example', token: 't'.repeat(32) });
    const before = await rowsOf(db, theirs);
    await insertSsoDomain(db.prisma, ours.scope, { domain: 'b.example', token: 'u'.repeat(32) });
    expect(await rowsOf(db, theirs)).toBe(before);
  },

  async verifySsoDomain({ db, ours, theirs }) {
    const domain = 'c.example';
    for (const { scope } of [ours, theirs]) await insertSsoDomain(db.prisma, scope, { domain, token: 't'.repeat(32) });
    const before = await rowsOf(db, theirs);
    expect(await verifySsoDomain(db.prisma, ours.scope, { domain, at: AT })).toBe(true);
    expect(await rowsOf(db, theirs)).toBe(before);
    // A domain belongs to one organization.
    await expect(verifySsoDomain(db.prisma, theirs.scope, { domain, at: AT })).rejects.toThrow();
  },

  async deleteSsoDomain({ db, ours, theirs }) {
    await insertSsoDomain(db.prisma, theirs.scope, { domain: 'd.example', token: 't'.repeat(32) });
    const before = await rowsOf(db, theirs);
    expect(await deleteSsoDomain(db.prisma, ours.scope, 'd.example')).toBeNull();
    expect(await rowsOf(db, theirs)).toBe(before);
  },

  async hasVerifiedSsoDomain({ db, ours, theirs }) {
    await insertSsoDomain(db.prisma, theirs.scope, { domain: 'e.example', token: 't'.repeat(32) });
    await verifySsoDomain(db.prisma, theirs.scope, { domain: 'e.example', at: AT });
    expect(await hasVerifiedSsoDomain(db.prisma, theirs.scope, 'e.example')).toBe(true);
    expect(await hasVerifiedSsoDomain(db.prisma, ours.scope, 'e.example')).toBe(false);
  },
};

export const ssoIdentityProofs: Proofs = {
  async findSsoUser({ db, ours, theirs }) {
    await connect(db, theirs);
    await link(db, theirs);
    expect(await findSsoUser(db.prisma, ours.scope, { issuer: ISSUER, subject: 'ada' })).toBeNull();
  },

  async hasSsoIdentity({ db, ours, theirs }) {
    await connect(db, theirs);
    await link(db, theirs);
    expect(await hasSsoIdentity(db.prisma, ours.scope, theirs.userId)).toBe(false);
  },

  async findUserIdByEmail({ db, ours, theirs }) {
    const { email } = await db.prisma.user.findFirstOrThrow({ where: { id: theirs.userId } });
    expect(await findUserIdByEmail(db.prisma, theirs.scope, email ?? '')).toBe(theirs.userId);
    expect(await findUserIdByEmail(db.prisma, ours.scope, email ?? '')).toBeNull();
  },

  async insertSsoIdentity({ db, ours, theirs }) {
    for (const tenant of [ours, theirs]) await connect(db, tenant);
    await link(db, theirs);
    const before = await rowsOf(db, theirs);
    await link(db, ours);
    expect(await rowsOf(db, theirs)).toBe(before);
    // The attack: a user of another organization.
    await expect(link(db, { ...ours, userId: theirs.userId }, 'eve')).rejects.toThrow();
  },

  async deleteSsoIdentity({ db, ours, theirs }) {
    await connect(db, theirs);
    await link(db, theirs);
    const before = await rowsOf(db, theirs);
    expect(await deleteSsoIdentity(db.prisma, ours.scope, theirs.userId)).toBe(false);
    expect(await rowsOf(db, theirs)).toBe(before);
  },

  async deleteSsoIdentities({ db, ours, theirs }) {
    for (const tenant of [ours, theirs]) {
      await connect(db, tenant);
      await link(db, tenant);
    }
    const before = await rowsOf(db, theirs);
    await deleteSsoIdentities(db.prisma, ours.scope);
    expect(await hasSsoIdentity(db.prisma, ours.scope, ours.userId)).toBe(false);
    expect(await rowsOf(db, theirs)).toBe(before);
  },
};

export const ssoSignInProofs: Proofs = {
  async insertSsoSignIn({ db, ours, theirs }) {
    for (const tenant of [ours, theirs]) await connect(db, tenant);
    const before = await rowsOf(db, theirs);
    await insertSsoSignIn(db.prisma, ours.scope, { ...SIGN_IN, ...key() });
    expect(await rowsOf(db, theirs)).toBe(before);
    // The attack: a user of another organization is to be confirmed.
    const person = { userId: theirs.userId, subject: 'ada', sid: '', groupRole: null };
    await expect(insertSsoSignIn(db.prisma, ours.scope, { ...SIGN_IN, ...key(), person })).rejects.toThrow();
  },

  async findSsoSignIn({ db, ours, theirs }) {
    await connect(db, theirs);
    const theirKey = key();
    await insertSsoSignIn(db.prisma, theirs.scope, { ...SIGN_IN, ...theirKey });
    expect(await findSsoSignIn(db.prisma, ours.scope, theirKey)).toBeNull();
  },

  async deleteSsoSignIn({ db, ours, theirs }) {
    await connect(db, theirs);
    const theirKey = key();
    await insertSsoSignIn(db.prisma, theirs.scope, { ...SIGN_IN, ...theirKey });
    expect(await deleteSsoSignIn(db.prisma, ours.scope, theirKey)).toBe(false);
    expect(await findSsoSignIn(db.prisma, theirs.scope, theirKey)).not.toBeNull();
  },

  async deleteSsoSignIns({ db, ours, theirs }) {
    for (const tenant of [ours, theirs]) await connect(db, tenant);
    const [ourKey, theirKey] = [key(), key()];
    await insertSsoSignIn(db.prisma, ours.scope, { ...SIGN_IN, ...ourKey });
    await insertSsoSignIn(db.prisma, theirs.scope, { ...SIGN_IN, ...theirKey });
    await deleteSsoSignIns(db.prisma, ours.scope);
    expect(await findSsoSignIn(db.prisma, ours.scope, ourKey)).toBeNull();
    expect(await findSsoSignIn(db.prisma, theirs.scope, theirKey)).not.toBeNull();
  },

  async deleteUnconfirmed({ db, ours, theirs }) {
    const [ourKey, theirKey] = [key(), key()];
    for (const [{ scope, userId }, ofSignIn] of [
      [ours, ourKey],
      [theirs, theirKey],
    ] as const) {
      await connect(db, { scope });
      const person = { userId, subject: 'ada', sid: 'one', groupRole: null };
      await insertSsoSignIn(db.prisma, scope, { ...SIGN_IN, ...ofSignIn, person });
    }
    await deleteUnconfirmed(db.prisma, ours.scope, { issuer: SIGN_IN.issuer, subject: 'ada', sids: undefined });
    expect(await findSsoSignIn(db.prisma, ours.scope, ourKey)).toBeNull();
    expect(await findSsoSignIn(db.prisma, theirs.scope, theirKey)).not.toBeNull();
  },
};
