export * from './connect-to-own.ts'
export * from './connection.ts'
export * from './database-user-rights.ts'
export * from './engine-address.ts'
export * from './engine-users.ts'
export * from './framing/command-table.ts'
export * from './framing/encode-command.ts'
export * from './framing/gathered-bytes.ts'
export * from './framing/hash-slot.ts'
export * from './framing/parse-reply.ts'
export { ARRAY, ERROR, PUSH } from './framing/reply-bytes.ts'
export { createReplyScanner, type ReplyScanner } from './framing/reply-scanner.ts'
export {
  createRequestScanner,
  KEPT_BYTES,
  type RequestScanner,
  rewindRequest,
} from './framing/request-scanner.ts'
export * from './framing/scan-replies.ts'
export * from './framing/scan-requests.ts'
export * from './framing/split-inline.ts'
export * from './known-holes.ts'
export * from './printable.ts'
export * from './read-cluster-nodes.ts'
export * from './read-info.ts'
export { type Listener, readListeners } from './read-listeners.ts'
export { knowUsersOfPorts, usersOfPortsFile } from './users-of-ports.ts'
export * from './version.ts'
