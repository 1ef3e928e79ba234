import { createGatheredBytes, createRequestScanner } from '@fairlead/engine'
import { table } from '../remembered/commands.ts'
import { freshState } from '../remembered/connection-state.ts'
import { createTimed } from '../traffic/count-traffic.ts'
import { nothingAhead } from './ahead.ts'
import type { ClientSide, Connection, Owner, Visitor } from './connection.ts'
import { createLogin } from './login.ts'

/** Creates a connection without a link. `owner`: its endpoint or router. */
export function createConnection(client: ClientSide, visitor: Visitor, owner: Owner): Connection {
  return {
    client,
    visitor,
    via: null,
    cutBecause: '',
    isUnreached: false,
    owner,
    mode: 'opening',
    link: null,
    login: createLogin(),
    judged: 0,
    timed: createTimed(),
    input: {
      requests: createRequestScanner(table),
      stash: [],
      stashBytes: 0,
      yielded: false,
      heldByBarrier: false,
      blocked: false,
      begun: createGatheredBytes(),
      part: null,
      protocolError: undefined,
      lastError: null,
      clientEnded: false,
    },
    session: {
      state: freshState,
      caching: null,
      ahead: nothingAhead(),
      underWayBytes: 0,
      keptBytes: 0,
      countedBytes: 0,
      again: null,
      watchLost: false,
      found: null,
      listedBytes: 0,
    },
    move: {
      mayBeGivenUp: false,
      putOff: null,
      era: owner.era,
      prepared: null,
      takingBack: false,
      readsOn: 0,
      lateBytes: 0,
    },
  }
}
