// Loaded first in Jest's worker processes. jest-light-runner 0.8.2 sends its configuration to all workers once, when the first
// worker asks for it. A worker that does not listen yet would wait forever. So this module listens as soon as anything else in
// the process listens, and answers the worker's own question if the configuration has already arrived. It does not listen
// earlier: Node keeps messages until the first listener is added, and those for tinypool would otherwise be lost.
const QUESTION = 'jest-light-runner-get-worker-data';

if (process.send !== undefined) {
  const send = process.send.bind(process);
  let early;
  process.on('newListener', function listen(name) {
    if (name !== 'message') return;
    process.off('newListener', listen);
    process.on('message', (message) => {
      if (message?.type === 'jest-light-runner-worker-data') early = message;
    });
  });
  process.send = (message, ...rest) => {
    if (message !== QUESTION || early === undefined) return send(message, ...rest);
    return process.emit('message', early, undefined);
  };
}
