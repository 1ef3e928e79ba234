/** Address of an engine: an IP address or a name, and a TCP port. */
export interface EngineAddress {
  readonly host: string
  readonly port: number
}

/** Connects over TLS, and accepts a certificate signed by one of `ca` or equal to one of them (PEM). */
export interface EngineTls {
  readonly ca: readonly string[]
  /** True if the certificate must prove the address's host. */
  readonly checksHost: boolean
}
