/**
 * Reason for a failed fetch. `bad_request`: unknown engine or version; `no_apt`: this machine has no apt or
 * no Debian archive; `suite_gone`: the archive does not have the suite (any more).
 */
export type FetchFault =
  | 'bad_request'
  | 'no_apt'
  | 'unreachable'
  | 'unsigned'
  | 'suite_gone'
  | 'damaged'
  | 'disk_full'
  | 'does_not_start'
  | 'failed'

/** A build could not be fetched. The message is one line for the user that asked for the build. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  readonly fault: FetchFault

  constructor(fault: FetchFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.fault = fault
  }
}
