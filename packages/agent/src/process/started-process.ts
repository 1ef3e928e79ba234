import type { ProcessIdentity } from './process-identity.ts'

/** A process that an agent has started itself. */
export interface StartedProcess {
  readonly identity: ProcessIdentity
  /** How it ended, in words: "exit code 1", "signal SIGKILL". Never rejects. */
  readonly ended: Promise<string>
}
