/**
 * Headers of every answer. Except the console, with its separate policy, no answer is a page: browsers must
 * not run it, frame it, guess its type or expose it to another origin.
 */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const
