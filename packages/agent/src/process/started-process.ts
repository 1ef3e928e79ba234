import type { ProcessIdentity } from './process-identity.ts'

export interface StartedProcess {
  readonly identity: ProcessIdentity
  /** How it ended, in words: "exit code 1", "signal SIGKILL". Never rejects. */
  readonly ended: Promise<string>
}
