import type { fetchFaults } from '@fairlead/api'

/** Reason for a failed fetch. */
export type FetchFault = (typeof fetchFaults)[number]

/** A build could not be fetched. The message is one line for the user that asked for the build. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  readonly fault: FetchFault

  constructor(fault: FetchFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.fault = fault
  }
}
