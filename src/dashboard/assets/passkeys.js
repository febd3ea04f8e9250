// Browsers offer passkeys only to scripts. This script shows each form with `data-passkey`, gets the options from the server,
// asks the browser for a passkey, and submits the form with the browser's response.

const isSupported = typeof window.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function';
/** The server accepts a challenge for ten minutes, so the script gets a new one after nine. */
const RENEWAL_MS = 9 * 60_000;

let pending = new AbortController();

for (const form of document.querySelectorAll('form[data-passkey]')) {
  form.parentElement.querySelector('[data-without-script]').hidden = true;
  if (location.origin !== form.dataset.origin) {
    form.parentElement.querySelector('[data-elsewhere]').hidden = false;
    continue;
  }
  if (!isSupported) {
    form.parentElement.querySelector('[data-without-passkeys]').hidden = false;
    continue;
  }
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (!form.reportValidity()) return;
    try {
      await send(form, await ask(form, {}));
    } catch (error) {
      show(form, error);
    }
  });
  if (form.dataset.passkey === 'autofill') autofill(form);
}

/** Lets the browser offer passkeys in the same list as saved passwords. */
async function autofill(form) {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  while (form.isConnected) {
    const renewal = setTimeout(() => pending.abort(), RENEWAL_MS);
    try {
      await send(form, await ask(form, { mediation: 'conditional' }));
      return;
    } catch (error) {
      // After RENEWAL_MS, the loop starts a new request with a new challenge, unless the person has pressed the button. An error
      // shows no message, because the person has not asked for a passkey.
      if (error.name !== 'AbortError' || form.dataset.pressed !== undefined) return;
    } finally {
      clearTimeout(renewal);
    }
    if (document.hidden)
      await new Promise((done) => document.addEventListener('visibilitychange', done, { once: true }));
  }
}

async function ask(form, { mediation }) {
  const { passkey, options: url } = form.dataset;
  if (mediation === undefined) form.dataset.pressed = '';
  const options = await optionsFrom(url, form);
  // A page can have only one pending request for a passkey.
  pending.abort();
  pending = new AbortController();
  const { signal } = pending;
  if (passkey === 'create')
    return navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
      signal,
    });
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return navigator.credentials.get({ publicKey, signal, ...(mediation !== undefined && { mediation }) });
}

async function optionsFrom(url, form) {
  const body = new URLSearchParams({ form_token: form.elements.form_token.value });
  const response = await fetch(url, { method: 'POST', body });
  const isJson = response.headers.get('Content-Type') === 'application/json';
  if (response.ok && isJson) return response.json();
  throw new Error(isJson ? (await response.json()).message : 'This page is out of date. Reload it, then try again.');
}

async function send(form, credential) {
  form.elements.credential.value = JSON.stringify(toJson(credential));
  form.submit();
}

/**
 * Returns the credential as JSON. Some password managers return an object that has no `toJSON`, or whose `toJSON` throws "Illegal
 * invocation". For such an object, the JSON is made from the buffers.
 */
function toJson(credential) {
  try {
    const json = credential.toJSON();
    if (typeof json.response.clientDataJSON === 'string') return json;
  } catch {}
  const { id, rawId, type, response } = credential;
  const parts = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  const sent = parts.filter((name) => response[name] != null).map((name) => [name, base64url(response[name])]);
  const json = { id, rawId: base64url(rawId), type, response: Object.fromEntries(sent), clientExtensionResults: {} };
  try {
    json.response.transports = response.getTransports();
  } catch {}
  return json;
}

function base64url(buffer) {
  const text = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join('');
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const MESSAGES = {
  NotAllowedError:
    'No passkey was used. It was cancelled, took too long, or this device has no passkey for your account.',
  InvalidStateError: 'This device already has a passkey for your account.',
  SecurityError: 'Passkeys work only at the address at which they were added.',
};

function show(form, error) {
  if (error.name === 'AbortError') return;
  const notice = form.querySelector('[role="alert"]');
  notice.querySelector('p').textContent = MESSAGES[error.name] ?? error.message;
  notice.hidden = false;
  notice.focus();
}
