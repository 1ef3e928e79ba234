/** The effects that the forwarded requests of a connection will have. */
export interface Ahead {
  inTransaction: boolean
  /** CLIENT REPLY OFF, and SKIP for the next command. */
  silent: boolean
  skipsNext: boolean
  /** The transaction holds what may publish. */
  publishes: boolean
  /** The name of a command of the transaction because of which the reply of EXEC may not be whole; empty: there is none. */
  cutsReply: string
  /** It will be subscribed, in RESP2, and whether a command that is not answered yet may change its protocol. */
  listens: Listens
  changesProtocol: boolean
}

/** Of a connection whose relevant requests are all answered. */
export function nothingAhead(): Ahead {
  return {
    inTransaction: false,
    silent: false,
    skipsNext: false,
    publishes: false,
    cutsReply: '',
    listens: false,
    changesProtocol: false,
  }
}

/** Whether a client of RESP2 will be subscribed when it asks for something else: then that is refused. */
export type Listens = boolean | 'unknown'
