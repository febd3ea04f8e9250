// Preloaded in Jest's worker processes. jest-light-runner 0.8.2 sends its configuration to all workers once, when the
// first one asks. A worker that does not listen yet would wait for ever. This module therefore listens as soon as anything
// does, and answers the worker's own question if the configuration has already arrived. Not earlier: until the first
// listener is added, Node keeps the messages, and those of tinypool would otherwise be lost.
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
