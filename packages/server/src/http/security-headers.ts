/**
 * Headers of every answer. But for the console, which has a policy of its own, no answer is a page: a browser must not run it, frame it, take it for another type, or let it be read by another
 * origin's page.
 */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const
