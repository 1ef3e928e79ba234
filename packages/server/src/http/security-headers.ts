/**
 * Headers of every answer. No answer is a page, except the console, which has a separate policy: browsers
 * must not run it, frame it, guess its type or expose it to another origin.
 */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const
