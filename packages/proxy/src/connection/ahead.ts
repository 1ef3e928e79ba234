/** The effects that the forwarded requests of a connection will have. */
export interface Ahead {
  inTransaction: boolean
  /** CLIENT REPLY OFF, and SKIP for the next command. */
  silent: boolean
  skipsNext: boolean
  /** True if the transaction holds a command that may publish, or counts subscribers. */
  needsSubscribers: boolean
  /** A command of the transaction that may make the reply of EXEC incomplete; empty if there is none. */
  cutsReply: string
  /** `listens`: see Listens. `changesProtocol`: a command without an answer yet may change the protocol. */
  listens: Listens
  changesProtocol: boolean
}

/** The state of a connection whose relevant requests are all answered. */
export function nothingAhead(): Ahead {
  return {
    inTransaction: false,
    silent: false,
    skipsNext: false,
    needsSubscribers: false,
    cutsReply: '',
    listens: false,
    changesProtocol: false,
  }
}

/**
 * True if a RESP2 client will be subscribed when its next command arrives; the engine then refuses that
 * command.
 */
export type Listens = boolean | 'unknown'
