// What guessing programs try first: common words, neighbouring keys, counting. A password made of these is weak at any length,
// so they are removed before its strength is measured.

/** Lower case, letters and digits only. */
export const COMMON_WORDS: readonly string[] = `
  passwords password passwort passphrase motdepasse contrasena passwd wachtwoord welcome letmein changeme default
  temporary temp secret access login signin administrator admin root user guest test testing master system manager
  charter organization company dashboard apikey example qwertyuiop qwertzuiop azertyuiop qwerty qwertz azerty asdfghjkl
  asdfgh asdf zxcvbnm zxcvbn yxcvbnm qazwsxedc qazwsx 1qaz2wsx3edc 1qaz2wsx 1q2w3e4r5t6y 1q2w3e4r5t 1q2w3e4r q1w2e3r4t5
  q1w2e3r4 zaq12wsx poiuytrewq lkjhgfdsa mnbvcxz iloveyou loveyou sunshine princess football baseball basketball
  superman batman dragon monkey shadow michael jennifer jordan ashley trustno1 starwars whatever freedom computer
  internet liverpool chelsea arsenal pokemon hello love please mustang spring summer autumn winter january february
  march april june july august september october november december monday tuesday wednesday thursday friday
  correcthorsebatterystaple correcthorse batterystaple thisismypassword opensesame abracadabra
`
  .trim()
  .split(/\s+/);
