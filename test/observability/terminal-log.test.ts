import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { Exchange } from '../../src/domain/request.ts';
import { createLogger } from '../../src/observability/logs.ts';
import { createRequestLog } from '../../src/observability/observe-requests.ts';

/** A logger on a terminal, and the rows that it has written. */
function useTerminal() {
  const output = Object.assign(new PassThrough(), { isTTY: true });
  const logger = createLogger('info', { output });
  const read = () => stripVTControlCharacters(String(output.read() ?? ''));
  return { logger, read };
}

test('a request is one row on a terminal', () => {
  const { logger, read } = useTerminal();
  const req = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/api/key?search=private' });
  const res = new ServerResponse(req);
  createRequestLog(logger)(req, res, new Exchange('the-id'));
  res.statusCode = 404;
  res.emit('close');
  expect(read()).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: GET \/api\/key 404 [\d.]+ ms requestId=the-id aborted=true\n$/);
});

test('any other line is one row with its members, and an error adds its stack', () => {
  const { logger, read } = useTerminal();
  logger.info({ url: 'http://127.0.0.1:3000', refused: { api: 3 } }, 'Charter is listening');
  expect(read()).toMatch(
    /^\[[\d:]+\] INFO: Charter is listening url=http:\/\/127\.0\.0\.1:3000 refused=\{"api":3\}\n$/,
  );
  logger.error({ err: new Error('Broken.'), requestId: 'x' }, 'a request failed');
  expect(read()).toMatch(/^\[[\d:]+\] ERROR: a request failed requestId=x\nError: Broken\.\n( +at .*\n)+$/);
});

// The attack: a path that moves the cursor, or changes the title of the terminal in which somebody reads the log.
test('a terminal never gets a control character from a request', () => {
  const { logger, read } = useTerminal();
  logger.info({ method: 'GET', path: '/\u001b]0;title\u0007\r\n/x\u009b2J', status: 404, milliseconds: 1 });
  expect(read()).toMatch(/^\[[\d:]+\] INFO: GET \/�\]0;title���\/x�2J 404 1 ms\n$/);
});
