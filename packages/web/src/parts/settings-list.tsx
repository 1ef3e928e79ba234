/** Names and values, side by side; on a phone below each other. */
export function SettingsList({
  of: rows,
}: {
  readonly of: readonly (readonly [name: string, value: string])[]
}) {
  return (
    <dl className="settings">
      {rows.map(([name, value]) => (
        <div key={name} className="settings-row">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
