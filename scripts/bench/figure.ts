/** A measurement other than the ratio of two loads. */
export type Figure = { readonly title: string; readonly value: string; readonly isMissed?: boolean };
