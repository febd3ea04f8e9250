import { createServer } from 'node:net';
import { listenLocally } from './port.ts';

export type Smtp = {
  /** The value for SMTP_URL. */
  readonly url: string;
  /** The mails so far, with their headers. Folded lines are joined. */
  readonly mails: string[];
  /** Returns whether a client has connected. */
  isAsked(): boolean;
  /** Sends the greeting that a slow server has delayed, and no longer delays it for later clients. */
  greet(): void;
  close(): void;
} & AsyncDisposable;

/**
 * Starts a server with the part of SMTP (RFC 5321) that receives a mail. With `isSlow`, the server delays its greeting until
 * `greet` is called.
 */
export async function startSmtp({ isSlow = false } = {}): Promise<Smtp> {
  const mails: string[] = [];
  let isReleased = !isSlow;
  const greetings: (() => void)[] = [];
  const server = createServer((socket) => {
    // A client may be killed, which resets its connection.
    socket.on('error', () => {});
    let [text, isData] = ['', false];
    const greet = () => socket.write('220 test\r\n');
    greetings.push(greet);
    if (isReleased) greet();
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (isData && text.includes('\r\n.\r\n')) {
        // Joins folded lines: in the body, RFC 2045 section 6.7; in the header, RFC 5322 section 2.2.3.
        mails.push(text.replaceAll('=\r\n', '').replace(/\r\n[ \t]+/g, ' '));
        [text, isData] = ['', false];
        socket.write('250 taken\r\n');
      }
      while (!isData && text.includes('\r\n')) {
        const line = text.slice(0, text.indexOf('\r\n'));
        text = text.slice(line.length + 2);
        isData = line === 'DATA';
        socket.write(isData ? '354 go on\r\n' : line === 'QUIT' ? '221 bye\r\n' : '250 fine\r\n');
      }
    });
  });
  const port = await listenLocally(server);
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    isAsked: () => greetings.length > 0,
    greet() {
      isReleased = true;
      for (const greet of greetings) greet();
    },
    close: () => server.close(),
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}
