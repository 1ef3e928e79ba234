/**
 * Why a build could not be fetched. `bad_request`: no such engine or version; `no_apt`: this machine has no apt or no
 * Debian archive; `suite_gone`: the archive has no such suite (any more); the others say themselves.
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

/**
 * A build could not be fetched. The message is one line, fit to be printed to the user that asked for the
 * build.
 */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  readonly fault: FetchFault

  constructor(fault: FetchFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.fault = fault
  }
}
