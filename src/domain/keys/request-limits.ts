/** Requests per second, 0 to 1,000,000. 0: no limit. */
export type RequestLimits = {
  readonly perKey: number;
  readonly perOrganization: number;
  /** The limit of requests without a valid key from one network address. */
  readonly perAddress: number;
};

/** What an operator has set for a single organization; `null` for the default of the installation. */
export type OrganizationLimits = {
  readonly perKey: number | null;
  readonly perOrganization: number | null;
};

/** These limits stop a flood, and no correct integration reaches them. */
export const DEFAULT_LIMITS: RequestLimits = { perKey: 500, perOrganization: 1000, perAddress: 50 };
export const NO_LIMITS: RequestLimits = { perKey: 0, perOrganization: 0, perAddress: 0 };
export const MAX_REQUESTS_PER_SECOND = 1_000_000;

/** The limits in effect for an organization. */
export function limitsOf(own: OrganizationLimits, defaults: RequestLimits): RequestLimits {
  return {
    perKey: own.perKey ?? defaults.perKey,
    perOrganization: own.perOrganization ?? defaults.perOrganization,
    perAddress: defaults.perAddress,
  };
}

/** The highest limit that a key of its own may have, at least 1. */
export function highestKeyLimit({ perKey, perOrganization }: RequestLimits): number {
  return lowerLimit(perKey, perOrganization) || MAX_REQUESTS_PER_SECOND;
}

/** The lower one of two limits. */
export function lowerLimit(one: number, other: number): number {
  if (one === 0 || other === 0) return one + other;
  return Math.min(one, other);
}
