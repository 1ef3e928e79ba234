/** A setting in a form: a number with its bounds, or a switch. */
export interface Setting {
  readonly name: string
  readonly label: string
  readonly value: number | boolean
  readonly min?: number
  readonly max?: number
}

/** The settings that a form changes, as the API takes them. A switch that is off is not in the form. */
export function changedSettings(
  form: FormData,
  settings: readonly Setting[],
): Readonly<Record<string, number | boolean>> {
  const changes = settings.flatMap(({ name, value }) => {
    const entered = typeof value === 'boolean' ? form.has(name) : Number(form.get(name))
    return entered === value ? [] : [[name, entered] as const]
  })
  return Object.fromEntries(changes)
}
