import { lines } from './literal.ts';
import { type SampleRequest, targetOf } from './request.ts';

/** Uses the extension curl, which most installations of PHP have. */
export function php(request: SampleRequest): string {
  const { method, headers, body, hasResponseBody } = request;
  return lines(
    '<?php',
    `$request = curl_init(getenv('CHARTER_URL') . ${literalOf(targetOf(request))});`,
    'curl_setopt_array($request, [',
    '    CURLOPT_RETURNTRANSFER => true,',
    method === 'GET' ? null : `    CURLOPT_CUSTOMREQUEST => '${method}',`,
    '    CURLOPT_HTTPHEADER => [',
    "        'Authorization: Bearer ' . getenv('CHARTER_API_KEY'),",
    body === undefined ? null : "        'Content-Type: application/json',",
    ...headers.map(({ name, value, isFresh }) =>
      isFresh ? `        '${name}: ' . bin2hex(random_bytes(16)),` : `        ${literalOf(`${name}: ${value}`)},`,
    ),
    '    ],',
    body === undefined ? null : `    CURLOPT_POSTFIELDS => json_encode(${literalOf(body, '    ')}),`,
    ']);',
    '$text = curl_exec($request);',
    '$status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);',
    'if ($text === false || $status >= 400) {',
    '    fwrite(STDERR, $text === false ? curl_error($request) : "$status $text");',
    '    exit(1);',
    '}',
    hasResponseBody ? 'print_r(json_decode($text, true));' : 'echo $status;',
  );
}

/** A PHP literal. An array without members would become a JSON array, so an empty object is an object. */
function literalOf(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const within = `${indent}    `;
  const members = Array.isArray(value)
    ? value.map((item) => `${within}${literalOf(item, within)},\n`)
    : Object.entries(value).map(([name, member]) => `${within}${literalOf(name)} => ${literalOf(member, within)},\n`);
  if (members.length === 0) return Array.isArray(value) ? '[]' : 'new stdClass()';
  return `[\n${members.join('')}${indent}]`;
}
