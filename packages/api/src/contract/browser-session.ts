/** A header that pages of this server send with every change: a page of another server cannot, without asking this one first. */
export const requestHeader = { name: 'fairlead-request', value: '1' } as const

/** The names of the cookie of a session. The first is for connections with TLS: browsers take it over TLS alone, and from no other name. */
export const sessionCookies = { overTls: '__Host-fairlead-session', plain: 'fairlead-session' } as const
