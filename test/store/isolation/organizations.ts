import { v7 as newId } from 'uuid';
import { OrganizationScope } from '../../../src/domain/organization-scope.ts';
import { insertOrganization, setLimits, setNoticeSettings, setSuspended } from '../../../src/store/organizations.ts';
import { findOrganization } from '../../../src/store/unscoped/operator.ts';
import type { Proofs } from './proof.ts';

const AT = new Date('2026-05-04T12:00:00.000Z');

export const organizationProofs: Proofs = {
  async insertOrganization({ db, theirs }) {
    const before = await findOrganization(db, theirs.scope.organizationId);
    const scope = OrganizationScope.grant(newId());
    const made = await insertOrganization(db.prisma, scope, { name: 'Test', keyring: db.keyring });
    expect(made.id).toBe(scope.organizationId);
    // Each organization has a cursor secret of its own, or one could sign another's cursors.
    expect(made.cursorKey).not.toEqual(before?.cursorKey);
    expect(await findOrganization(db, theirs.scope.organizationId)).toEqual(before);
    await expect(
      insertOrganization(db.prisma, theirs.scope, { name: 'Taken over', keyring: db.keyring }),
    ).rejects.toThrow();
  },

  async setLimits({ db, ours, theirs }) {
    await setLimits(db.prisma, ours.scope, { perKey: 5, perOrganization: 9 });
    const limits = { requestsPerKey: 5, requestsPerOrganization: 9 };
    expect(await findOrganization(db, ours.scope.organizationId)).toMatchObject(limits);
    expect(await findOrganization(db, theirs.scope.organizationId)).toMatchObject({
      requestsPerKey: null,
      requestsPerOrganization: null,
    });
  },

  async setNoticeSettings({ db, ours, theirs }) {
    const settings = { endsUnusedAfterDays: 30, tellsNewNetworks: true, endsUnusedSince: AT };
    await setNoticeSettings(db.prisma, ours.scope, settings);
    expect(await findOrganization(db, ours.scope.organizationId)).toMatchObject(settings);
    expect(await findOrganization(db, theirs.scope.organizationId)).toMatchObject({
      endsUnusedAfterDays: null,
      tellsNewNetworks: false,
    });
  },

  async setSuspended({ db, ours, theirs }) {
    await setSuspended(db.prisma, ours.scope, AT);
    expect(await findOrganization(db, ours.scope.organizationId)).toMatchObject({ suspendedAt: AT });
    expect(await findOrganization(db, theirs.scope.organizationId)).toMatchObject({ suspendedAt: null });
    await setSuspended(db.prisma, theirs.scope, AT);
    await setSuspended(db.prisma, ours.scope, null);
    expect(await findOrganization(db, theirs.scope.organizationId)).toMatchObject({ suspendedAt: AT });
  },
};
