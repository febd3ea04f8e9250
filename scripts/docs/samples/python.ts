import { lines } from './literal.ts';
import { type SampleRequest, targetOf } from './request.ts';

/** Uses only the standard library. Ends with the response of the server if it is an error, which has a `message`. */
export function python(request: SampleRequest): string {
  const { method, headers, body, hasResponseBody } = request;
  const modules = [
    ...(hasResponseBody || body !== undefined ? ['json'] : []),
    'os',
    'urllib.error',
    'urllib.request',
    ...(headers.some(({ isFresh }) => isFresh) ? ['uuid'] : []),
  ];
  return lines(
    ...modules.map((name) => `import ${name}`),
    '',
    'request = urllib.request.Request(',
    `    os.environ["CHARTER_URL"] + ${JSON.stringify(targetOf(request))},`,
    method === 'GET' ? null : `    method="${method}",`,
    '    headers={',
    '        "Authorization": "Bearer " + os.environ["CHARTER_API_KEY"],',
    body === undefined ? null : '        "Content-Type": "application/json",',
    ...headers.map(
      ({ name, value, isFresh }) => `        "${name}": ${isFresh ? 'str(uuid.uuid4())' : JSON.stringify(value)},`,
    ),
    '    },',
    body === undefined ? null : `    data=json.dumps(${literalOf(body, '    ')}).encode(),`,
    ')',
    'try:',
    '    with urllib.request.urlopen(request) as response:',
    hasResponseBody ? '        print(json.load(response))' : '        print(response.status)',
    'except urllib.error.HTTPError as error:',
    '    raise SystemExit(f"{error.code} {error.read().decode()}")',
  );
}

/** A Python literal, indented like JSON.stringify does. */
function literalOf(value: unknown, indent = ''): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const within = `${indent}    `;
  const members = Array.isArray(value)
    ? value.map((item) => `${within}${literalOf(item, within)},\n`)
    : Object.entries(value).map(
        ([name, member]) => `${within}${JSON.stringify(name)}: ${literalOf(member, within)},\n`,
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return members.length === 0 ? `${open}${close}` : `${open}\n${members.join('')}${indent}${close}`;
}
