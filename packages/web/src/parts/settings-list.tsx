/** Names and values in two columns; in one on a phone. */
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
