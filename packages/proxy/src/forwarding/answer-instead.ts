import { encodeCommand } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import type { Link, Noted } from '../connection/link.ts'
import {
  asksForPeers,
  type ClientQuestion,
  clientQuestion,
  redirectAt,
  type Selection,
} from '../remembered/client-query.ts'
import { type Command, wordAt } from '../remembered/command.ts'
import { userOf } from '../remembered/connection-state.ts'
import type { Found } from '../remembered/peers.ts'
import { countListed, TOO_MUCH_LISTED } from '../traffic/listed-bytes.ts'
import {
  infoOf,
  killWith,
  listOf,
  refusalOf,
  withOwnId,
  withOwnNumber,
  withOwnRedirect,
} from './own-answers.ts'
import { inTurn } from './turns.ts'

/*
 * Engines see the proxy's links; clients see each other. So CLIENT LIST, KILL and INFO are answered with what
 * the proxy knows, and CLIENT ID is the proxy's number, which stays in a handover. The engine gets a request
 * in each case, which keeps replies in order: CLIENT ID for LIST and KILL. If it refuses that one, it has
 * refused the other.
 */

/** A replacement for a request (null: the request is sent), and for its reply. */
interface Instead {
  readonly instead: Buffer | null
  readonly answer: Noted['answer']
}

/** True if the request read last asks for other clients, which are not found yet. */
export function mustFindPeers({ input: { requests }, session: { ahead, found } }: Connection): boolean {
  if (requests.command?.name !== 'CLIENT' || found !== null) return false
  if (ahead.inTransaction || ahead.silent || ahead.skipsNext) return false
  return asksForPeers(requests.words)
}

/** Reads the question. Returns what begins the search; `goOn` is called in the client's turn at its end. */
export function findPeers(connection: Connection, goOn: () => void): () => void {
  const { owner, visitor, input, session } = connection
  const command: Command = { name: 'CLIENT', args: input.requests.words, cutShort: false }
  const query = { user: userOf(session.state), asker: visitor.id, selection: selectionOf(command) }
  session.found = 'awaited'
  return () => {
    void owner.peers.find(query).then((found) => {
      inTurn(owner.allowance, 'takes requests again of', visitor.crumb, () => {
        if (connection.mode === 'closed') return
        session.found = countListed(session, sizeOf(found)) ? found : noRoom
        goOn()
      })
    })
  }
}

const noRoom: Found = { clients: [], error: TOO_MUCH_LISTED }

/** Returns the bytes of the lines. */
export function sizeOf({ clients }: Found): number {
  return clients.reduce((sum, { line }) => sum + line.length, 0)
}

function selectionOf(command: Command): Selection {
  const question = clientQuestion(command)
  if (question !== undefined && 'selection' in question) return question.selection
  const id = command.args[redirectAt(command)]?.toString('latin1') ?? '0'
  return { skipsAsker: false, filters: [{ name: 'ID', not: false, values: [id] }] }
}

/**
 * Called for each noted request that is answered, outside of transactions. `isUnsent`: nothing of it is sent
 * yet. Returns null for requests that simply pass.
 */
export function answerInstead(
  connection: Connection,
  link: Link,
  command: Command,
  isUnsent: boolean,
): Instead | null {
  if (command.name === 'HELLO')
    return { instead: null, answer: (reply) => withOwnId(connection, link, reply) }
  if (command.name !== 'CLIENT') return null
  const found = connection.session.found === 'awaited' ? null : connection.session.found
  connection.session.found = null
  const sub = wordAt(command, 0)
  const answer = answers[sub]
  if (answer !== undefined && command.args.length === 1)
    return { instead: null, answer: (reply) => answer(connection, link, reply) }
  if (!isUnsent) return null
  const at = redirectAt(command)
  if (at > 0) return { instead: redirected(link, command, at, found), answer: null }
  const question = clientQuestion(command)
  if (question === undefined || (found === null && !('error' in question))) return null
  // A client that ends itself is owed nothing after this.
  link.waitsForAll = sub === 'KILL'
  return { instead: clientId, answer: (reply) => answerFor(connection, question, found, reply) }
}

const clientId = encodeCommand(['CLIENT', 'ID'])

/** Subcommands that the engine answers for its link. */
const answers: Readonly<Record<string, (connection: Connection, link: Link, reply: Buffer) => Buffer>> = {
  ID: withOwnNumber,
  INFO: infoOf,
  GETREDIR: withOwnRedirect,
  TRACKINGINFO: withOwnRedirect,
}

function answerFor(
  connection: Connection,
  question: ClientQuestion,
  found: Found | null,
  reply: Buffer,
): Buffer {
  const kind = 'kind' in question ? question.kind : 'kill'
  const error = refusalOf(reply, kind) ?? ('error' in question ? question.error : found?.error)
  if (error !== undefined) return Buffer.from(`-${error}\r\n`, 'latin1')
  const clients = found?.clients ?? []
  if (kind === 'list') return listOf(connection.session.state.protocol, clients)
  const isAddress = 'kind' in question && question.isAddress
  return killWith(clients, isAddress, connection)
}

/** CLIENT TRACKING with the engine's number of the other client. 0: the engine knows none. */
function redirected(link: Link, command: Command, at: number, found: Found | null): Buffer {
  const [client] = found?.clients ?? []
  link.redirect = client?.id ?? 0
  // The engine refuses a number that it has not given yet; 0 would mean: no redirection.
  const number = client === undefined || client.engineId === 0 ? NO_CLIENT : String(client.engineId)
  return encodeCommand(['CLIENT', ...command.args.with(at, Buffer.from(number))])
}

const NO_CLIENT = '9007199254740991'
