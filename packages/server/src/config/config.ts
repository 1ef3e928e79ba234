import { join } from 'node:path'
import { isEveryAddress } from './config-hosts.ts'
import { readOtel, type TraceSettings } from './config-otel.ts'
import { type Values, type Variable, variables } from './config-variables.ts'

/** The settings, read once at the start. Fields are described at their variables. */
export interface Config extends Values {
  readonly engines: string
  /** From the standard OpenTelemetry variables; null: traces are off. */
  readonly traces: TraceSettings | null
}

/** All faults of the environment, one per line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(
      `the configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    )
    this.faults = faults
  }
}

/**
 * Reads the configuration from `env`; an empty variable counts as unset. Throws a ConfigError with all
 * faults, including unknown FAIRLEAD_ variables, which may be misspelt.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = []
  const read = ({ name, read: readText }: Variable<unknown>): unknown => {
    try {
      return readText(env[name] || undefined, (sentence) => {
        throw new Fault(sentence)
      })
    } catch (cause) {
      if (!(cause instanceof Fault)) throw cause
      faults.push(
        `${name} ${cause.message}${/(PASSWORD|STORE_KEY|SECRET)$/.test(name) ? '' : ` (it is ${JSON.stringify(env[name])})`}`,
      )
      return undefined
    }
  }
  const entries = Object.entries(variables).map(([name, variable]) => [name, read(variable)])
  const values = Object.fromEntries(entries) as Values // typed by variable, if without fault
  const traces = readOtel(env, (name, sentence) => void faults.push(`${name} ${sentence}`))
  faults.push(...samePorts(values), ...unknownVariables(env))
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze({ ...values, engines: values.engines ?? join(values.home, 'engines'), traces })
}

/** Prints docs/reference/configuration.md from the same table. */
export function printConfigurationDocs(): string {
  const rows = Object.values(variables).map(
    ({ name, about, otherwise }) => `| \`${name}\` | ${about} | ${otherwise} |`,
  )
  return [
    '<!-- Printed by `npm run docs` from packages/server/src/config/config-variables.ts. Do not edit. -->',
    '# Configuration\n',
    'Fairlead is configured by its environment. A wrong value stops it with every fault listed, and exit code 2.',
    '',
    '| variable | meaning | when not set |\n|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

class Fault extends Error {}

function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const known: readonly string[] = Object.values(variables).map(({ name }) => name)
  return Object.keys(env)
    .filter((name) => name.startsWith('FAIRLEAD_') && !known.includes(name))
    .map((name) => `${name} is not a variable of Fairlead; there are ${known.join(', ')}`)
}

/** A sentence for each port that two variables name at conflicting addresses. `0` means any port, or none. */
function samePorts(values: Values): string[] {
  const { httpPort, httpAddress, httpsPort, httpsAddress, sentinelPort } = values
  const places = [
    { name: 'FAIRLEAD_HTTP_PORT', port: httpPort, host: httpAddress },
    { name: 'FAIRLEAD_HTTPS_PORT', port: httpsPort, host: httpsAddress },
    { name: 'FAIRLEAD_SENTINEL_PORT', port: sentinelPort, host: '127.0.0.1' },
  ].filter(({ port }) => port !== 0)
  return places.flatMap(({ name, port, host }, n) =>
    places
      .slice(n + 1)
      .filter((other) => other.port === port)
      .filter((other) => other.host === host || isEveryAddress(host) || isEveryAddress(other.host))
      .map((other) => `${other.name} must be another port than ${name} (both are ${port})`),
  )
}
