import { lines } from './literal.ts';
import { type SampleRequest, targetOf } from './request.ts';

/** Uses only the standard library. */
export function go(request: SampleRequest): string {
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
    body === undefined ? null : `	body := strings.NewReader(${literalOf(JSON.stringify(body, null, 2))})`,
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

/** A raw string, which cannot contain a backtick; else an interpreted one, which has the escapes of JSON. */
function literalOf(text: string): string {
  return text.includes('`') ? JSON.stringify(text) : `\`${text}\``;
}
