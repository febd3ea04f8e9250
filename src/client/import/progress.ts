import process from 'node:process';

const WIDTH = 30;

/** A line that is written again and again, on a terminal only. */
export class Progress {
  readonly #isShown = process.stderr.isTTY;

  show(words: string, share: number | undefined): void {
    if (!this.#isShown) return;
    const filled = Math.floor((share ?? 0) * WIDTH);
    const bar = `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.floor((share ?? 0) * 100)}%  `;
    process.stderr.write(`\r${share === undefined ? '' : bar}${words}\u001B[K`);
  }

  /** Removes the line, so that other output can follow. */
  clear(): void {
    if (this.#isShown) process.stderr.write('\r\u001B[K');
  }
}
