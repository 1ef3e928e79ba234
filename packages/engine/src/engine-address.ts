/** Where an engine listens: an IP address or a name, and a TCP port. */
export interface EngineAddress {
  readonly host: string
  readonly port: number
}

/** Speaks TLS to whom one of `ca` vouches for: authorities, or others whom to trust as they are (PEM). */
export interface EngineTls {
  readonly ca: readonly string[]
  /** Whether the certificate must prove the host of the address. */
  readonly checksHost: boolean
}
