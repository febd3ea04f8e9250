import { lines, literal } from './literal.ts';
import { type SampleRequest, targetOf } from './request.ts';

/** `fetch`, in Node or another runtime with modules. */
export function javascript(request: SampleRequest): string {
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
