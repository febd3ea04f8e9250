import type { Actor } from '../domain/actor.ts';
import { DomainError, invalidField } from '../domain/errors.ts';
import { PASSWORD_CHARACTERS, passwordProblem } from '../domain/password.ts';
import { hashRecoveryCode, mintRecoveryCodes } from '../domain/recovery-code.ts';
import { recordAudit } from '../store/audit.ts';
import type { Database } from '../store/database.ts';
import { changeUser, countRecoveryCodes } from '../store/users.ts';
import { lockActor } from './people-authority.ts';
import { provePassword } from './prove-password.ts';
import { acceptedStep, mintSecret } from './second-factor-code.ts';

/** A secret for the authenticator. Sign-in does not ask for it until it is confirmed; beginning again replaces it. */
export async function beginSecondFactor(db: Database, actor: Actor): Promise<{ secret: string; uri: string }> {
  return db.prisma.$transaction(async (tx) => {
    const user = await lockActor(tx, actor);
    if (user.totpSince !== null)
      throw new DomainError('conflict', 'You have a second factor already. Remove it before you set up another.');
    const { bytes, base32, uri } = mintSecret(user.email);
    await changeUser(tx, actor.scope, user.id, { totpSecret: bytes, totpLastStep: 0 });
    return { secret: base32, uri };
  });
}

/** From now on sign-in asks for a code. Returns the ten recovery codes, this once. */
export async function confirmSecondFactor(
  db: Database,
  actor: Actor,
  { code, now = new Date() }: { code: string; now?: Date },
): Promise<{ recoveryCodes: string[] }> {
  return db.prisma.$transaction(async (tx) => {
    const user = await lockActor(tx, actor);
    if (user.totpSince !== null) throw new DomainError('conflict', 'You have a second factor already.');
    if (user.totpSecret === null) throw new DomainError('conflict', 'Begin with setting up your authenticator.');
    const step = acceptedStep(user, code, now);
    if (step === null)
      throw invalidField(
        'code',
        'is not the code that your authenticator shows now. Check its clock, and try the next.',
      );
    const codes = mintRecoveryCodes();
    const recoveryCodes = codes.flatMap((each) => hashRecoveryCode(each) ?? []).map((hash) => Uint8Array.from(hash));
    await changeUser(tx, actor.scope, user.id, { totpSince: now, totpLastStep: step, recoveryCodes });
    await recordAudit(tx, actor.scope, { act: 'user.second_factor_on', ...itself(user.id), trace: actor.trace });
    return { recoveryCodes: codes };
  });
}

/** Takes the password; one that was long enough only beside the factor has to be changed first. */
export async function removeSecondFactor(
  db: Database,
  actor: Actor,
  { password }: { password: string },
): Promise<void> {
  const provenHash = await provePassword(db, actor, { password, field: 'password' });
  if (passwordProblem(password, { ...actor, hasSecondFactor: false }) !== null)
    throw new DomainError(
      'conflict',
      `Without a second factor a password must have at least ${PASSWORD_CHARACTERS} characters. Change yours first.`,
    );
  await db.prisma.$transaction(async (tx) => {
    const user = await lockActor(tx, actor);
    if (user.passwordHash !== provenHash)
      throw new DomainError('conflict', 'Your password was changed elsewhere meanwhile. Sign in again.');
    if (user.totpSince === null) throw new DomainError('conflict', 'You have no second factor.');
    await changeUser(tx, actor.scope, user.id, {
      totpSecret: null,
      totpSince: null,
      totpLastStep: 0,
      recoveryCodes: [],
    });
    await recordAudit(tx, actor.scope, { act: 'user.second_factor_off', ...itself(user.id), trace: actor.trace });
  });
}

/** How many recovery codes are left; for the profile page. */
export async function recoveryCodesLeft(db: Database, actor: Actor): Promise<number> {
  return countRecoveryCodes(db, actor.scope, actor.userId);
}

function itself(userId: string) {
  return { actorUserId: userId, targetUserId: userId };
}
