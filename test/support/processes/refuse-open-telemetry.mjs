// Loaded before the server (--import). Makes every import of OpenTelemetry fail.
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('@opentelemetry/')) throw new Error(`${specifier} is loaded.`);
    return next(specifier, context);
  },
});
