// Code samples for every operation, from the contract's examples. Each sample can be run unchanged: it reads the server's URL
// from CHARTER_URL and the key from CHARTER_API_KEY. It fails if the response is an error.
import type { Operation } from '../../../src/contract/document.ts';
import { isEmpty, lines, literal, requestOf, type SampleRequest, targetOf } from './request.ts';

type Language = {
  /** The name of the language for readers. */
  readonly label: string;
  /** The name of the language for syntax highlighters. */
  readonly lang: string;
  readonly write: (request: SampleRequest) => string;
};
type Sample = { readonly lang: string; readonly label: string; readonly source: string };

export const LANGUAGES: readonly Language[] = [
  { label: 'curl', lang: 'bash', write: curl },
  { label: 'TypeScript', lang: 'typescript', write: typescript },
  { label: 'JavaScript', lang: 'javascript', write: javascript },
  { label: 'Python', lang: 'python', write: python },
  { label: 'Go', lang: 'go', write: go },
  { label: 'PHP', lang: 'php', write: php },
];

export function samplesOf(operation: Operation): readonly Sample[] {
  const request = requestOf(operation);
  return LANGUAGES.map(({ label, lang, write }) => ({ lang, label, source: write(request) }));
}

/** Returns a shell command. The Idempotency-Key is fixed, so that a second run of the command does not create a second item. */
function curl(request: SampleRequest): string {
  const { method, headers, body } = request;
  return [
    // Without this option, curl exits with 0 even if the response is an error.
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

/** Returns code that uses charter-client, which adds an Idempotency-Key and reads all pages of a list. */
function typescript(request: SampleRequest): string {
  return lines(
    "import { createClient } from 'charter-client';",
    '',
    'const charter = createClient({',
    '  baseUrl: process.env.CHARTER_URL,',
    '  apiKey: process.env.CHARTER_API_KEY,',
    '});',
    '',
    request.isPaged ? allPages(request) : oneCall(request),
  );
}

function oneCall(request: SampleRequest): readonly string[] {
  return [
    `const result = await charter.${request.method}(${parametersOf(request)});`,
    `if (!result.ok) throw new Error(\`\${result.status} \${result.error.message}\`);`,
    request.hasResponseBody ? 'console.log(result.data);' : 'console.log(result.status);',
  ];
}

function allPages(request: SampleRequest): readonly string[] {
  return [
    `const items = charter.items(${parametersOf(request)});`,
    'for await (const item of items) console.log(item);',
  ];
}

function parametersOf({ template, path, query, headers, body }: SampleRequest): string {
  const header = Object.fromEntries(headers.filter(({ isFresh }) => !isFresh).map(({ name, value }) => [name, value]));
  const params = Object.fromEntries(Object.entries({ path, query, header }).filter(([, values]) => !isEmpty(values)));
  const options = { ...(!isEmpty(params) && { params }), ...(body !== undefined && { body }) };
  return isEmpty(options) ? `'${template}'` : `'${template}', ${literal(options)}`;
}

/** Returns code that uses `fetch`, for Node or another runtime with ES modules. */
function javascript(request: SampleRequest): string {
  const { method, headers, body, hasResponseBody } = request;
  const sent = [
    `Authorization: \`Bearer \${process.env.CHARTER_API_KEY}\`,`,
    ...(body === undefined ? [] : ["'Content-Type': 'application/json',"]),
    ...headers.map(({ name, value, isFresh }) => `'${name}': ${isFresh ? 'crypto.randomUUID()' : literal(value)},`),
  ];
  return lines(
    `const response = await fetch(\`\${process.env.CHARTER_URL}${targetOf(request)}\`, {`,
    method === 'GET' ? null : `  method: '${method}',`,
    sent.length === 1
      ? `  headers: { ${sent.join('').slice(0, -1)} },`
      : ['  headers: {', ...sent.map((line) => `    ${line}`), '  },'],
    body === undefined ? null : `  body: JSON.stringify(${literal(body, '  ')}),`,
    '});',
    `if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`);`,
    hasResponseBody ? 'console.log(await response.json());' : 'console.log(response.status);',
  );
}

/**
 * Returns code that uses only the standard library. If the response is an error, the program exits with the text of the response,
 * which has a `message`.
 */
function python(request: SampleRequest): string {
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
    body === undefined ? null : `    data=json.dumps(${pythonOf(body, '    ')}).encode(),`,
    ')',
    'try:',
    '    with urllib.request.urlopen(request) as response:',
    hasResponseBody ? '        print(json.load(response))' : '        print(response.status)',
    'except urllib.error.HTTPError as error:',
    '    raise SystemExit(f"{error.code} {error.read().decode()}")',
  );
}

/** Returns a Python literal, indented as JSON.stringify does. */
function pythonOf(value: unknown, indent = ''): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const within = `${indent}    `;
  const members = Array.isArray(value)
    ? value.map((item) => `${within}${pythonOf(item, within)},\n`)
    : Object.entries(value).map(([name, member]) => `${within}${JSON.stringify(name)}: ${pythonOf(member, within)},\n`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return members.length === 0 ? `${open}${close}` : `${open}\n${members.join('')}${indent}${close}`;
}

function go(request: SampleRequest): string {
  const { method, headers, body, hasResponseBody } = request;
  const isFresh = headers.some((header) => header.isFresh);
  const packages = [
    ...(isFresh ? ['crypto/rand'] : []),
    'fmt',
    'io',
    'log',
    'net/http',
    'os',
    ...(body === undefined ? [] : ['strings']),
  ];
  const set = (name: string, value: string) => `	request.Header.Set(${JSON.stringify(name)}, ${value})`;
  return lines(
    'package main',
    '',
    'import (',
    ...packages.map((name) => `	"${name}"`),
    ')',
    '',
    'func main() {',
    body === undefined ? null : `	body := strings.NewReader(${goOf(JSON.stringify(body, null, 2))})`,
    `	request, err := http.NewRequest("${method}", os.Getenv("CHARTER_URL")+${JSON.stringify(targetOf(request))}, ${body === undefined ? 'nil' : 'body'})`,
    ...ENDED,
    isFresh ? ['	random := make([]byte, 16)', '	if _, err := rand.Read(random); err != nil {', ...END] : null,
    set('Authorization', '"Bearer "+os.Getenv("CHARTER_API_KEY")'),
    body === undefined ? null : set('Content-Type', '"application/json"'),
    ...headers.map((header) =>
      set(header.name, header.isFresh ? 'fmt.Sprintf("%x", random)' : JSON.stringify(header.value)),
    ),
    '	response, err := http.DefaultClient.Do(request)',
    ...ENDED,
    '	defer response.Body.Close()',
    '	text, err := io.ReadAll(response.Body)',
    ...ENDED,
    '	if response.StatusCode >= 400 {',
    '		log.Fatalf("%d %s", response.StatusCode, text)',
    '	}',
    hasResponseBody ? '	fmt.Println(string(text))' : '	fmt.Println(response.StatusCode)',
    '}',
  );
}

const END = ['		log.Fatal(err)', '	}'];
const ENDED = ['	if err != nil {', ...END];

/**
 * Returns a Go string literal. A raw string literal cannot contain a backtick, so a text with a backtick becomes an interpreted
 * string literal, which has the same escape sequences as JSON.
 */
function goOf(text: string): string {
  return text.includes('`') ? JSON.stringify(text) : `\`${text}\``;
}

/** Returns code that uses the curl extension, which most installations of PHP have. */
function php(request: SampleRequest): string {
  const { method, headers, body, hasResponseBody } = request;
  return lines(
    '<?php',
    `$request = curl_init(getenv('CHARTER_URL') . ${phpOf(targetOf(request))});`,
    'curl_setopt_array($request, [',
    '    CURLOPT_RETURNTRANSFER => true,',
    method === 'GET' ? null : `    CURLOPT_CUSTOMREQUEST => '${method}',`,
    '    CURLOPT_HTTPHEADER => [',
    "        'Authorization: Bearer ' . getenv('CHARTER_API_KEY'),",
    body === undefined ? null : "        'Content-Type: application/json',",
    ...headers.map(({ name, value, isFresh }) =>
      isFresh ? `        '${name}: ' . bin2hex(random_bytes(16)),` : `        ${phpOf(`${name}: ${value}`)},`,
    ),
    '    ],',
    body === undefined ? null : `    CURLOPT_POSTFIELDS => json_encode(${phpOf(body, '    ')}),`,
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

/** Returns a PHP literal. An empty object becomes a PHP object, because an empty PHP array would be sent as a JSON array. */
function phpOf(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const within = `${indent}    `;
  const members = Array.isArray(value)
    ? value.map((item) => `${within}${phpOf(item, within)},\n`)
    : Object.entries(value).map(([name, member]) => `${within}${phpOf(name)} => ${phpOf(member, within)},\n`);
  if (members.length === 0) return Array.isArray(value) ? '[]' : 'new stdClass()';
  return `[\n${members.join('')}${indent}]`;
}
