import { v7 as newId } from 'uuid';
import type { Database, Transaction } from '../sql/database.ts';

export type OperatorAction = {
  readonly action:
    | 'organization.exported'
    | 'organization.move_started'
    | 'organization.move_completed'
    | 'organization.move_cancelled'
    | 'organization.imported'
    | 'organization.moved'
    | 'organization.deletion_started'
    | 'organization.deleted';
  readonly organization: { readonly id: string; readonly name: string };
  readonly detail?: Readonly<Record<string, string>>;
};

/** Writes the action of an operator in its transaction. Unlike an audit event, it is kept without the organization. */
export async function recordOperatorAction(
  tx: Transaction,
  { action, organization, detail = {} }: OperatorAction,
): Promise<void> {
  const { id: aboutId, name: aboutName } = organization;
  await tx.operatorAction.create({ data: { id: newId(), action, aboutId, aboutName, detail }, select: { id: true } });
}

const MAX_LISTED = 1000;

/** The newest first, at most 1,000. */
export async function listOperatorActions({ prisma }: Database) {
  return prisma.operatorAction.findMany({ orderBy: { id: 'desc' }, take: MAX_LISTED });
}
