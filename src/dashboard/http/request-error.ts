/** The errors of requests that no page can handle, each with the text of its error page. */
export const REQUEST_ERRORS = {
  forged: {
    status: 403,
    title: 'This form is out of date',
    message: 'It was opened before you last signed in or out. Go back, reload the page and send it again.',
  },
  foreign: {
    status: 403,
    title: 'This form came from another site',
    message:
      'Nothing was changed: only forms on our own pages are accepted. Open the page here and send the form again.',
  },
  'unexpected-field': {
    status: 422,
    title: 'This form has unknown fields',
    message: 'Nothing was changed: the form has fields that this page does not have. Reload the page and try again.',
  },
  unreadable: { status: 400, title: 'We cannot read that', message: 'The request is damaged. Go back and try again.' },
  'not-a-form': {
    status: 415,
    title: 'We cannot read that',
    message: 'Only plain HTML forms are accepted here. Go back and use the form on the page.',
  },
  'not-json': { status: 400, title: 'We cannot read that', message: 'The body is not valid JSON.' },
  compressed: { status: 415, title: 'We cannot read that', message: 'A compressed body is not accepted here.' },
  'report-too-large': {
    status: 413,
    title: 'This report is too large',
    message: 'The report is larger than 256 KiB. Send only the lines that contain a key.',
  },
  'too-large': {
    status: 413,
    title: 'This form is too large',
    message: 'The form is larger than 10 KiB. Go back and shorten it.',
  },
  'too-many-cookies': {
    status: 431,
    title: 'Your browser sends too many cookies',
    message:
      'Together with the address, they are larger than 16 KiB. Delete the cookies of this site and of its parent domain in your browser, then sign in again.',
  },
  'not-found': {
    status: 404,
    title: 'There is no such page',
    message: 'It may have moved, or the link was copied only in part.',
  },
  'wrong-method': {
    status: 405,
    title: 'This page cannot be opened like that',
    message: 'Use the button or the form that leads here.',
  },
  'not-allowed': {
    status: 403,
    title: 'You may not open this page',
    message: 'Your role does not include it. Ask an administrator of your organization if you need it.',
  },
} as const;

type RequestErrorKind = keyof typeof REQUEST_ERRORS;

export class RequestError extends Error {
  readonly kind: RequestErrorKind;

  constructor(kind: RequestErrorKind) {
    super(REQUEST_ERRORS[kind].message);
    this.name = 'RequestError';
    this.kind = kind;
  }
}
