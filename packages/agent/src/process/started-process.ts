import type { ProcessIdentity } from './process-identity.ts'

/** A process that this agent has started. */
export interface StartedProcess {
  readonly identity: ProcessIdentity
  /** The process's end, as "exit code 1" or "signal SIGKILL". Never rejects. */
  readonly ended: Promise<string>
}
