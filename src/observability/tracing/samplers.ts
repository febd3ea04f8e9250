/** The values of OTEL_TRACES_SAMPLER. With "parentbased", the caller decides about the requests that have a `traceparent`. */
export const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

export type SamplerName = (typeof SAMPLERS)[number];
