import type { Fault } from '../fault.ts';

const RESPONSE = 'src/api/response.ts';
const CONDITIONAL = 'src/api/conditional.ts';
const EXCEPTIONS = 'src/api/exceptions.ts';
const BODY = 'src/api/request-body.ts';
const QUERY = 'src/api/request-query.ts';
const ROWS = 'src/service/resources/rows.ts';

/** Faults in what the contract promises for every operation: headers, methods, conditional requests, error responses. */
export const API_FAULTS: readonly Fault[] = [
  {
    title: 'the ETag is constant',
    edits: [
      {
        file: CONDITIONAL,
        find: "hash('sha256', representation, 'base64url')",
        replace: "hash('sha256', representation.subarray?.(0, 0) ?? '', 'base64url')",
      },
    ],
    caughtBy: 'test/api/conditional.test.ts',
  },
  {
    title: 'If-Match is ignored',
    edits: [
      {
        file: CONDITIONAL,
        find: "if (header === undefined || header.trim() === '*') return;",
        replace: "if (header !== '') return;",
      },
    ],
    caughtBy: 'test/api/conditional.test.ts',
  },
  {
    title: 'If-Match accepts a weak ETag',
    edits: [
      {
        file: CONDITIONAL,
        find: 'tags.some((tag) => !isWeak(tag) && isCurrent(tag))',
        replace: 'tags.some((tag) => isCurrent(strongOf(tag)))',
      },
    ],
    caughtBy: 'test/api/conditional.test.ts',
  },
  {
    title: 'the last value of a repeated field in a body applies',
    edits: [{ file: BODY, find: 'findRepeatedNames(text, MAX_FIELDS)', replace: 'findRepeatedNames(text, 0)' }],
    caughtBy: 'test/api/write-refusals.test.ts',
  },
  {
    title: 'the conflict names a program of another organization',
    edits: [
      {
        file: 'src/store/rows.ts',
        find: 'where organization_id = ${organizationId}::uuid and ${Prisma.raw(columnOf(field))}',
        replace: 'where organization_id <> ${organizationId}::uuid and ${Prisma.raw(columnOf(field))}',
      },
    ],
    caughtBy: 'test/api/create.test.ts',
  },
  {
    title: 'every If-None-Match gets 304',
    edits: [
      {
        file: CONDITIONAL,
        find: "if (header.trim() === '*') return false;",
        replace: "if (header !== '') return false;",
      },
    ],
    caughtBy: 'test/api/list-caching.test.ts',
  },
  {
    title: 'a matching If-None-Match is ignored',
    edits: [
      {
        file: CONDITIONAL,
        find: 'if (header === undefined) return true;',
        replace: "if (header !== '*') return true;",
      },
    ],
    caughtBy: 'test/api/list-caching.test.ts',
  },
  {
    title: 'HEAD has a body',
    edits: [
      {
        file: RESPONSE,
        find: ".end(req.method === 'HEAD' ? undefined : text, 'latin1');",
        replace: ".end(text, 'latin1');\n  req.socket.write(req.method === 'HEAD' ? (text ?? '') : '');",
      },
    ],
    caughtBy: 'test/api/http-address.test.ts',
  },
  {
    title: 'a response may be stored although it must not be',
    edits: [
      { file: RESPONSE, find: "isConditional ? 'private, no-cache' : 'no-store'", replace: "'private, no-cache'" },
    ],
    caughtBy: 'test/contract/every-operation.test.ts',
  },
  {
    title: 'a response has no request id',
    edits: [{ file: RESPONSE, find: "'X-Request-Id', requestId, ...always", replace: '...always' }],
    caughtBy: 'test/contract/every-operation.test.ts',
  },
  {
    title: 'a 405 does not name the allowed methods',
    edits: [
      {
        file: 'src/api/contract-api.ts',
        find: '`, { Allow: allow });',
        replace: '`);',
      },
    ],
    caughtBy: 'test/contract/every-operation.test.ts',
  },
  {
    title: 'a 401 does not say how to authenticate',
    edits: [
      {
        file: EXCEPTIONS,
        find: '{ \'WWW-Authenticate\': `Bearer realm="charter"${challenge}` }',
        replace: '{ ...(challenge && { \'WWW-Authenticate\': `Bearer realm="charter"${challenge}` }) }',
      },
    ],
    caughtBy: 'test/contract/every-operation-key.test.ts',
  },
  {
    title: 'a 503 has no Retry-After',
    edits: [
      {
        file: EXCEPTIONS,
        find: "refusal('unavailable', UNAVAILABLE, { 'Retry-After': '5' })",
        replace: "refusal('unavailable', UNAVAILABLE)",
      },
    ],
    caughtBy: 'test/contract/every-operation-fault.test.ts',
  },
  {
    title: 'a 500 reveals its cause',
    edits: [{ file: EXCEPTIONS, find: "refusal('bug', message)", replace: "refusal('bug', `${message} ${error}`)" }],
    caughtBy: 'test/contract/every-operation-fault.test.ts',
  },
  {
    title: 'an outage is reported as a 500',
    edits: [
      {
        file: EXCEPTIONS,
        find: 'if (error instanceof DomainError || isOutage(error)) {',
        replace: 'if (error instanceof DomainError) {',
      },
    ],
    caughtBy: 'test/api/outage.test.ts',
  },
  {
    title: 'an unknown parameter is accepted',
    edits: [
      {
        file: QUERY,
        find: 'else values.set(name, earlier',
        replace: 'else if (types.has(name)) values.set(name, earlier',
      },
    ],
    caughtBy: 'test/contract/every-operation.test.ts',
  },
  {
    title: 'the last of several equal parameters is used',
    edits: [
      {
        file: QUERY,
        find: 'else values.set(name, earlier === undefined ? read : [earlier, read]);',
        replace: 'else values.set(name, read);',
      },
    ],
    caughtBy: 'test/api/list-refusals.test.ts',
  },
  {
    title: 'equal parameters are copied for each further one',
    edits: [
      {
        file: QUERY,
        find: 'if (Array.isArray(earlier)) earlier.push(read);',
        replace: 'if (Array.isArray(earlier)) values.set(name, [earlier, read].flat());',
      },
    ],
    caughtBy: 'test/api/http-address.test.ts',
  },
  {
    title: 'slashes within a path are searched again and again',
    edits: [
      {
        file: 'src/api/contract-api.ts',
        find: String.raw`path.replace(/(?<!\/)\/+$/, '')`,
        replace: String.raw`path.replace(/\/+$/, '')`,
      },
    ],
    caughtBy: 'test/api/http-address.test.ts',
  },
  {
    title: 'each port of a client counts as a network of its own',
    edits: [{ file: 'src/domain/network.ts', find: 'bracketed ?? dotted ?? ip', replace: 'ip' }],
    caughtBy: 'test/domain/network.test.ts',
  },
  {
    title: 'an integer parameter accepts other notations',
    edits: [{ file: QUERY, find: 'const INTEGER = /^-?(0|[1-9]\\d*)$/;', replace: 'const INTEGER = /^[-+]?\\d+$/;' }],
    caughtBy: 'test/api/list-refusals.test.ts',
  },
  {
    title: "a body above the contract's limit is accepted",
    edits: [
      {
        file: BODY,
        find: 'const MAX_REQUEST_BODY_BYTES = 100 * 1024;',
        replace: 'const MAX_REQUEST_BODY_BYTES = 200 * 1024;',
      },
    ],
    caughtBy: 'test/contract/every-operation-body.test.ts',
  },
  {
    title: 'a compressed body is accepted',
    edits: [
      {
        file: BODY,
        find: "if (encoding.toLowerCase() !== 'identity') {",
        replace: "if (encoding.toLowerCase() === 'br') {",
      },
    ],
    caughtBy: 'test/contract/every-operation-body.test.ts',
  },
  {
    title: 'a body of another media type is accepted',
    edits: [{ file: BODY, find: 'mediaTypes.includes(type) &&', replace: "type !== '' &&" }],
    caughtBy: 'test/contract/every-operation-body.test.ts',
  },
  {
    title: 'an Accept header without JSON gets JSON',
    edits: [
      {
        file: BODY,
        find: "if (accepts(req).type(['application/json', 'application/json; charset=utf-8']) !== false) return;",
        replace: 'if (accepts(req).types().length > 0) return;',
      },
    ],
    caughtBy: 'test/contract/every-operation.test.ts',
  },
  {
    title: 'bodies are not validated',
    edits: [
      {
        file: 'src/api/contract-api.ts',
        find: 'api.register(operationId, ',
        replace:
          'const checks = api.validator.getRequestValidatorsForOperation(operationId) ?? [];\n    if (checks.length > 1) checks.shift();\n    api.register(operationId, ',
      },
    ],
    caughtBy: 'test/contract/every-operation-body.test.ts',
  },
  {
    title: "an error message exceeds the contract's limit",
    edits: [
      {
        file: 'src/api/clip.ts',
        find: 'const points = text.length <= characters ? null',
        replace: 'const points = text.length <= characters * 4 ? null',
      },
    ],
    caughtBy: 'test/api/create.test.ts',
  },
  {
    title: 'Idempotency-Key is ignored',
    edits: [
      {
        file: ROWS,
        find: 'idempotencyKey === undefined\n',
        replace: "idempotencyKey === undefined || table.name !== ''\n",
      },
    ],
    caughtBy: 'test/api/idempotency.test.ts',
  },
  {
    title: 'an Idempotency-Key of another resource repeats that response',
    edits: [{ file: ROWS, find: '[table.name, storedContent', replace: '[storedContent' }],
    caughtBy: 'test/service/resources/rows.test.ts',
  },
  {
    title: 'an Idempotency-Key is accepted with another body',
    edits: [
      {
        file: ROWS,
        find: 'if (claim.requestHash.equals(requestHash)) return',
        replace: 'if (claim.requestHash.length === requestHash.length) return',
      },
    ],
    caughtBy: 'test/api/idempotency.test.ts',
  },
  {
    title: 'null in a merge patch does not clear the field',
    edits: [
      {
        file: 'src/domain/merge-patch.ts',
        find: 'if (change === undefined) return current;',
        replace: 'if (change === undefined || change === null) return current;',
      },
    ],
    caughtBy: 'test/domain/merge-patch.test.ts',
  },
  {
    title: 'null does not remove a metadata entry',
    edits: [
      {
        file: 'src/domain/merge-patch.ts',
        find: 'if (value === null) merged.delete(key);\n    else merged.set',
        replace: 'if (value !== null) merged.set',
      },
    ],
    caughtBy: 'test/domain/merge-patch.test.ts',
  },
  {
    title: 'a deletion does not delete',
    edits: [
      {
        file: 'src/store/rows.ts',
        find: 'delete from ${name} using writer\n      where refused is null\n',
        replace: "delete from ${name} using writer\n      where refused is null and name = ''\n",
      },
    ],
    caughtBy: 'test/fuzz/fuzz.test.ts',
  },
  {
    title: 'an organization may use every connection of the API',
    edits: [
      {
        file: 'src/traffic/database-queues.ts',
        find: 'permitsAlone: Math.max(1, permits - 1)',
        replace: 'permitsAlone: permits',
      },
    ],
    caughtBy: 'test/api/overload.test.ts',
  },
  {
    title: 'a waiting request of a closed connection is still carried out',
    edits: [
      {
        file: 'src/traffic/fair-queue.ts',
        find: "    connection.once('close', abandon);\n",
        replace: '',
      },
    ],
    caughtBy: 'test/traffic/fair-queue.test.ts',
  },
  {
    title: 'an organization whose requests wait never pauses',
    edits: [
      { file: 'src/traffic/fair-queue.ts', find: '      this.#pause(tenant, { oldest, startedAt });\n', replace: '' },
    ],
    caughtBy: 'test/traffic/fair-queue.test.ts',
  },
  {
    title: 'an organization pauses although its requests have waited for long',
    edits: [
      {
        file: 'src/traffic/fair-queue.ts',
        find: 'if (now - oldest.since > maxWaitMs / 2 || newestWaitsMs',
        replace: 'if (newestWaitsMs',
      },
    ],
    caughtBy: 'test/traffic/fair-queue.test.ts',
  },
  {
    title: 'an organization pauses although it has too many requests waiting',
    edits: [{ file: 'src/traffic/fair-queue.ts', find: ' || newestWaitsMs > maxWaitMs)', replace: ')' }],
    caughtBy: 'test/traffic/fair-queue.test.ts',
  },
  {
    title: 'an organization that sends bursts hides the one with little load',
    edits: [
      {
        file: 'src/traffic/light-load.ts',
        find: '    this.#arrivedAt.delete(tenantName);\n    if',
        replace: '    this.#arrivedAt.clear();\n    if',
      },
    ],
    caughtBy: 'test/traffic/fair-queue.test.ts',
  },
  {
    title: 'a flood of the dashboard does not pause for the requests of the API',
    edits: [
      {
        file: 'src/traffic/database-queues.ts',
        find: '      lightLoad,\n',
        replace: '      lightLoad: new LightLoad(),\n',
      },
    ],
    caughtBy: 'test/traffic/database-queues.test.ts',
  },
  {
    title: 'a refusal beyond the limit of an address does not wait',
    edits: [{ file: 'src/api/server-api.ts', find: '      await pause();\n', replace: '' }],
    caughtBy: 'test/api/rate-limits.test.ts',
  },
  {
    title: 'a client that half-closes fails the requests that share its response',
    edits: [
      {
        file: 'src/api/response-cache.ts',
        find: '        if (!(error instanceof AbandonedError)) throw error;',
        replace: '        if (error instanceof AbandonedError) throw error;\n        throw error;',
      },
    ],
    caughtBy: 'test/api/overload.test.ts',
  },
  {
    title: 'the check of responses accepts fields that are not declared',
    edits: [
      {
        file: 'src/contract/conformity.ts',
        find: '[keyword]: false }',
        replace: '[keyword]: true }',
      },
    ],
    caughtBy: 'test/api/response-check.test.ts',
  },
  {
    title: 'every malformed request has a line in the log',
    edits: [
      {
        file: 'src/run.ts',
        find: 'onUnreadable: unreadable.log,',
        replace: "onUnreadable: (seen) => logger.info(seen, 'unreadable or incomplete HTTP request'),",
      },
    ],
    caughtBy: 'test/observability/logs.test.ts',
  },
  {
    title: 'a shutdown loses the count of malformed requests',
    edits: [{ file: 'src/run.ts', find: '  unreadable.stop();\n', replace: '' }],
    caughtBy: 'test/observability/logs.test.ts',
  },
  {
    title: 'a shutdown loses the count of refusals under load',
    edits: [{ file: 'src/run.ts', find: '  refusals.stop();\n', replace: '' }],
    caughtBy: 'test/observability/logs.test.ts',
  },
  {
    title: 'a connection with waiting requests is read on',
    edits: [{ file: 'src/connections.ts', find: '    this.#socket.pause();\n  };', replace: '  };' }],
    caughtBy: 'test/api/pipelining.test.ts',
  },
  {
    title: 'the current key waits for a database connection of the API',
    edits: [
      {
        file: 'src/api/server-api.ts',
        find: "new Set<OperationId>(['getKey'])",
        replace: 'new Set<OperationId>()',
      },
    ],
    caughtBy: 'test/api/overload.test.ts',
  },
  {
    title: 'each refusal under load is logged as an error',
    edits: [
      {
        file: 'src/api/exceptions.ts',
        find: "return refusal('unavailable', UNAVAILABLE, { 'Retry-After': '1' });",
        replace: "return { ...refusal('unavailable', UNAVAILABLE, { 'Retry-After': '1' }), isFault: true };",
      },
    ],
    caughtBy: 'test/api/overload.test.ts',
  },
  {
    title: 'a path that cannot be decoded gets 500',
    edits: [
      {
        file: QUERY,
        find: '    return decodeURIComponent(spaced);\n  } catch {\n',
        replace: '    return decodeURIComponent(spaced);\n  } catch (error) {\n    if (error !== null) throw error;\n',
      },
    ],
    caughtBy: 'test/fuzz/fuzz.test.ts',
  },
  {
    title: 'an update without changes creates a new version',
    edits: [
      {
        file: ROWS,
        find: 'if (isSameContent(table, before.row, content)) return',
        replace: "if (isSameContent(table, before.row, content) && before.text === '') return",
      },
    ],
    caughtBy: 'test/api/update.test.ts',
  },
  {
    title: 'a duplicate external_id gets 500',
    edits: [
      {
        file: 'src/service/resources/writing.ts',
        find: 'index?.includes(`_${columnOf(each)}_`)',
        replace: 'index?.includes(columnOf(each), 1000)',
      },
    ],
    caughtBy: 'test/api/update.test.ts',
  },
  {
    title: 'the response check accepts every response',
    edits: [
      {
        file: 'src/api/response-check.ts',
        find: 'if (disagreements.length === 0) {',
        replace: 'if (disagreements.length >= 0) {',
      },
    ],
    caughtBy: 'test/api/response-check.test.ts',
  },
  {
    title: 'a checked response to HEAD exempts the GET from the check',
    edits: [{ file: 'src/api/response-check.ts', find: 'if (!isHead) passed', replace: 'if (response) passed' }],
    caughtBy: 'test/api/response-check.test.ts',
  },
];
