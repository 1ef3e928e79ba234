/** Sent by our pages with every change: a page of another server needs a preflight for it. */
export const requestHeader = { name: 'fairlead-request', value: '1' } as const

/** Names of the session cookie. Browsers accept the first one only over TLS. */
export const sessionCookies = { overTls: '__Host-fairlead-session', plain: 'fairlead-session' } as const
