import { type SampleRequest, targetOf } from './request.ts';

/** For a shell. A header that should be fresh is the example's: for whoever repeats the very same line, that is right. */
export function curl(request: SampleRequest): string {
  const { method, headers, body } = request;
  return [
    // Without it, curl takes a refusal for a success.
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
