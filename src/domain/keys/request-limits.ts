/** Limits in requests per second, from 0 to 1,000,000. 0 means that there is no limit. */
export type RequestLimits = {
  readonly perKey: number;
  readonly perOrganization: number;
  /** The limit on requests without a valid key from one network. */
  readonly perAddress: number;
};

/** The limits that an operator has set for an organization; `null` means the default of the installation. */
export type OrganizationLimits = {
  readonly perKey: number | null;
  readonly perOrganization: number | null;
};

/** The default limits. They stop floods of requests; no correct integration reaches them. */
export const DEFAULT_LIMITS: RequestLimits = { perKey: 500, perOrganization: 1000, perAddress: 50 };
export const NO_LIMITS: RequestLimits = { perKey: 0, perOrganization: 0, perAddress: 0 };
export const MAX_REQUESTS_PER_SECOND = 1_000_000;

/** Returns the limits that apply to an organization. */
export function limitsOf(own: OrganizationLimits, defaults: RequestLimits): RequestLimits {
  return {
    perKey: own.perKey ?? defaults.perKey,
    perOrganization: own.perOrganization ?? defaults.perOrganization,
    perAddress: defaults.perAddress,
  };
}

/** Returns the highest limit that a single key may have. It is at least 1. */
export function highestKeyLimit({ perKey, perOrganization }: RequestLimits): number {
  return lowerLimit(perKey, perOrganization) || MAX_REQUESTS_PER_SECOND;
}

/** Returns the lower of two limits, where 0 means that there is no limit. */
export function lowerLimit(one: number, other: number): number {
  if (one === 0 || other === 0) return one + other;
  return Math.min(one, other);
}
