import type { Lie } from '../lie.ts';

const RESPONSE = 'src/api/response.ts';
const CONDITIONAL = 'src/api/conditional.ts';
const EXCEPTIONS = 'src/api/exceptions.ts';
const BODY = 'src/api/request-body.ts';
const QUERY = 'src/api/request-query.ts';
const SERVICE = 'src/service/parent-programs.ts';

/** HTTP is not what the contract promises of every operation. */
export const API_LIES: readonly Lie[] = [
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
        find: 'return header === undefined || header.trim()',
        replace: "return header !== '' || header.trim()",
      },
    ],
    caughtBy: 'test/api/conditional.test.ts',
  },
  {
    title: 'If-Match takes a weak tag',
    edits: [
      {
        file: CONDITIONAL,
        find: 'entityTagsIn(header).includes(entityTag)',
        replace: "entityTagsIn(header).some((tag) => tag.replace('W/', '') === entityTag)",
      },
    ],
    caughtBy: 'test/api/conditional.test.ts',
  },
  {
    title: 'any If-None-Match gets 304',
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
    title: 'what the client has already is sent again',
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
    title: 'an answer may be stored that must not be',
    edits: [
      { file: RESPONSE, find: "isConditional ? 'private, no-cache' : 'no-store'", replace: "'private, no-cache'" },
    ],
    caughtBy: 'test/contract/every-operation.test.ts',
  },
  {
    title: 'an answer has no request id',
    edits: [
      { file: RESPONSE, find: "['X-Request-Id', requestId, ...always, ...fields]", replace: '[...always, ...fields]' },
    ],
    caughtBy: 'test/contract/every-operation.test.ts',
  },
  {
    title: '405 names no method',
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
    title: '401 does not say how to authenticate',
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
    title: '503 does not say when to come again',
    edits: [
      {
        file: EXCEPTIONS,
        find: "refusal('unavailable', message, { 'Retry-After': '5' })",
        replace: "refusal('unavailable', message)",
      },
    ],
    caughtBy: 'test/contract/every-operation-fault.test.ts',
  },
  {
    title: 'a bug tells its cause',
    edits: [{ file: EXCEPTIONS, find: "refusal('bug', message)", replace: "refusal('bug', `${message} ${error}`)" }],
    caughtBy: 'test/contract/every-operation-fault.test.ts',
  },
  {
    title: 'an outage reads as a bug',
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
    title: 'an unknown parameter passes',
    edits: [
      {
        file: QUERY,
        find: 'values.set(name, values.has(name)',
        replace: 'if (types.has(name)) values.set(name, values.has(name)',
      },
    ],
    caughtBy: 'test/contract/every-operation.test.ts',
  },
  {
    title: 'of a repeated parameter the last counts',
    edits: [
      {
        file: QUERY,
        find: 'values.set(name, values.has(name) ? [values.get(name), read].flat() : read);',
        replace: 'values.set(name, read);',
      },
    ],
    caughtBy: 'test/api/list-refusals.test.ts',
  },
  {
    title: 'a number may be written as no integer is',
    edits: [{ file: QUERY, find: 'const INTEGER = /^-?(0|[1-9]\\d*)$/;', replace: 'const INTEGER = /^[-+]?\\d+$/;' }],
    caughtBy: 'test/api/list-refusals.test.ts',
  },
  {
    title: 'a larger body is taken than the contract says',
    edits: [{ file: BODY, find: 'const MAX_BODY_BYTES = 100 * 1024;', replace: 'const MAX_BODY_BYTES = 200 * 1024;' }],
    caughtBy: 'test/contract/every-operation-body.test.ts',
  },
  {
    title: 'a compressed body is taken as it is',
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
    title: 'a body of another media type is taken',
    edits: [{ file: BODY, find: "type === 'application/json' &&", replace: "type !== '' &&" }],
    caughtBy: 'test/contract/every-operation-body.test.ts',
  },
  {
    title: 'an Accept that rules JSON out gets JSON',
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
    title: 'the validator of a body is left out',
    edits: [
      {
        file: 'src/api/contract-api.ts',
        find: 'api.validator.getRequestValidatorsForOperation(operationId);',
        replace:
          'const checks = api.validator.getRequestValidatorsForOperation(operationId) ?? [];\n    if (checks.length > 1) checks.shift();',
      },
    ],
    caughtBy: 'test/contract/every-operation-body.test.ts',
  },
  {
    title: 'a message is longer than the contract shows',
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
      { file: SERVICE, find: 'if (idempotencyKey === undefined) return', replace: "if (idempotencyKey !== '') return" },
    ],
    caughtBy: 'test/api/idempotency.test.ts',
  },
  {
    title: 'an Idempotency-Key answers whatever body comes with it',
    edits: [
      {
        file: SERVICE,
        find: 'if (claim.requestHash.equals(requestHash)) return',
        replace: 'if (claim.requestHash.length === requestHash.length) return',
      },
    ],
    caughtBy: 'test/api/idempotency.test.ts',
  },
  {
    title: 'null in a merge patch clears nothing',
    edits: [
      {
        file: 'src/domain/parent-program.ts',
        find: 'patch.description === undefined ? program.description : patch.description',
        replace: 'patch.description ?? program.description',
      },
    ],
    caughtBy: 'test/domain/parent-program.test.ts',
  },
  {
    title: 'null keeps an entry of the metadata',
    edits: [
      {
        file: 'src/domain/parent-program.ts',
        find: 'if (value === null) merged.delete(key);\n    else merged.set',
        replace: 'if (value !== null) merged.set',
      },
    ],
    caughtBy: 'test/domain/parent-program.test.ts',
  },
  {
    title: 'a deletion leaves what it deletes',
    edits: [
      {
        file: 'src/store/parent-programs.ts',
        find: 'deleteMany({ where: { organizationId: scope.organizationId, id } })',
        replace: "deleteMany({ where: { organizationId: scope.organizationId, id, name: '' } })",
      },
    ],
    caughtBy: 'test/fuzz/fuzz.test.ts',
  },
  {
    title: 'an address that cannot be decoded is a bug',
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
    title: 'a change that changes nothing is a change',
    edits: [
      {
        file: SERVICE,
        find: 'if (isSameContent(before.program, content)) return',
        replace: "if (isSameContent(before.program, content) && id === '') return",
      },
    ],
    caughtBy: 'test/api/update.test.ts',
  },
  {
    title: 'two programs of one external_id are a bug',
    edits: [
      {
        file: SERVICE,
        find: 'if (!isUniqueViolation(error)) throw error;',
        replace: 'if (!isUniqueViolation(error) || externalId !== null) throw error;',
      },
    ],
    caughtBy: 'test/api/update.test.ts',
  },
  {
    title: 'the response check lets everything pass',
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
    title: 'an answer to HEAD vouches for the page',
    edits: [{ file: 'src/api/response-check.ts', find: 'if (!isHead) passed', replace: 'if (response) passed' }],
    caughtBy: 'test/api/response-check.test.ts',
  },
];
