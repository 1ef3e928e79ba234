/** Where an engine listens: an IP address or a name, and a TCP port. */
export interface EngineAddress {
  readonly host: string
  readonly port: number
}

/** Connects over TLS, and accepts a certificate signed by one of `ca` or equal to one of them (PEM). */
export interface EngineTls {
  readonly ca: readonly string[]
  /** Whether the certificate must prove the host of the address. */
  readonly checksHost: boolean
}
