// Preloaded in a server: loading any part of OpenTelemetry then fails.
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('@opentelemetry/')) throw new Error(`${specifier} is loaded.`);
    return next(specifier, context);
  },
});
