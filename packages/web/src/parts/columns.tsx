/** The head of a table. `number`: what stands below it is aligned to the right. */
export function Columns(props: {
  readonly of: readonly { readonly name: string; readonly number?: boolean }[]
}) {
  return (
    <thead>
      <tr>
        {props.of.map(({ name, number }) => (
          <th key={name} scope="col" className={number === true ? 'number' : undefined}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  )
}
