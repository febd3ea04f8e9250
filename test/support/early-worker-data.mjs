// Preloaded in Jest's worker processes. jest-light-runner 0.8.2 sends its configuration to all workers when the first one asks,
// and never again: a worker that has not begun to listen by then would wait for ever. So this listens from the beginning, and
// answers the worker's own question where the answer has already come.
const QUESTION = 'jest-light-runner-get-worker-data';

if (process.send !== undefined) {
  const send = process.send.bind(process);
  let early;
  process.on('message', (message) => {
    if (message?.type === 'jest-light-runner-worker-data') early = message;
  });
  process.send = (message, ...rest) => {
    if (message !== QUESTION || early === undefined) return send(message, ...rest);
    return process.emit('message', early, undefined);
  };
}
