/**
 * Of every answer. None of ours is a page: nothing in it is to run, to be framed, to be taken for another type, or to be read by another
 * origin's page.
 */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const
