/** Looks an organization up only if it is suspended, as a moving one is. */
export const IS_MOVING =
  'o.suspended_at is not null and exists (select from organization_moves m where m.organization_id = o.id)';
