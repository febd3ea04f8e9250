import process from 'node:process';

const WIDTH = 30;

/** A line that is written again and again, on a terminal only. */
export class Progress {
  readonly #isShown = process.stderr.isTTY;
  #state = '';

  show(words: string, share: number | undefined): void {
    const filled = Math.floor((share ?? 0) * WIDTH);
    const bar = `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.floor((share ?? 0) * 100)}%  `;
    this.#state = `${share === undefined ? '' : bar}${words}`;
    this.#write(this.#state);
  }

  /** Says why nothing happens, until the next state. */
  showWait(reason: string): void {
    this.#write(`${this.#state} ${reason}`.trimStart());
  }

  /** Removes the line, so that other output can follow. */
  clear(): void {
    this.#write('');
  }

  #write(line: string): void {
    if (this.#isShown) process.stderr.write(`\r${line}\u001B[K`);
  }
}
