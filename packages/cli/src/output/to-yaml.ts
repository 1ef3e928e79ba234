/** A JSON value as YAML 1.2. Text that could be read as something else is in quotes. */
export function toYaml(value: unknown): string {
  return `${linesOf(value).join('\n')}\n`
}

function linesOf(value: unknown): readonly string[] {
  if (Array.isArray(value))
    return value.length === 0 ? ['[]'] : value.flatMap((entry) => under('- ', linesOf(entry)))
  if (typeof value !== 'object' || value === null) return [scalarOf(value)]
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  if (entries.length === 0) return ['{}']
  return entries.flatMap(([key, entry]) => {
    const lines = linesOf(entry)
    const isBelow = typeof entry === 'object' && entry !== null && Object.keys(entry).length > 0
    return isBelow
      ? [`${scalarOf(key)}:`, ...lines.map((line) => `  ${line}`)]
      : [`${scalarOf(key)}: ${lines[0]}`]
  })
}

function under(sign: string, [first = '', ...rest]: readonly string[]): readonly string[] {
  return [`${sign}${first}`, ...rest.map((line) => `${' '.repeat(sign.length)}${line}`)]
}

function scalarOf(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value ?? null)
  const isPlain = /^[a-z_/][\w./ -]*$/i.test(value) && !value.endsWith(' ')
  return isPlain && !/^(true|false|yes|no|on|off|y|n|null)$/i.test(value) ? value : JSON.stringify(value)
}
