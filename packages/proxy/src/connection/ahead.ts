/** The effects that the forwarded requests of a connection will have. */
export interface Ahead {
  inTransaction: boolean
  /** CLIENT REPLY OFF, and SKIP for the next command. */
  silent: boolean
  skipsNext: boolean
  /** Whether the transaction holds a command that may publish. */
  publishes: boolean
  /** The name of a command of the transaction that may make the reply of EXEC incomplete; empty: there is none. */
  cutsReply: string
  /** Whether the connection will be subscribed, in RESP2, and whether a command without an answer yet may change its protocol. */
  listens: Listens
  changesProtocol: boolean
}

/** The state of a connection whose relevant requests are all answered. */
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

/** Whether a client of RESP2 will be subscribed when it sends another command, which is refused then. */
export type Listens = boolean | 'unknown'
