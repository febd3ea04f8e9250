/** Of every account of the tests. */
export const PASSWORD = 'violet marmot drums 41 kettles';
