import { type SampleRequest, targetOf } from './request.ts';

/** For a shell. The Idempotency-Key is a fixed one, because running the same line again must not create a second item. */
export function curl(request: SampleRequest): string {
  const { method, headers, body } = request;
  return [
    // Without this option, curl ends with 0 for an error response.
    'curl --fail-with-body',
    ...(method === 'GET' ? [] : [`--request ${method}`]),
    `"$CHARTER_URL${targetOf(request)}"`,
    '-H "Authorization: Bearer $CHARTER_API_KEY"',
    ...headers.map(({ name, value }) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(body, null, 2))}`]),
  ].join(' \\\n  ');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
