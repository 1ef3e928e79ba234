import type { Module } from '@fairlead/api'
import { useModules } from '../../live/queries.ts'
import { Columns } from '../../parts/columns.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { bytes } from '../../words/format.ts'

const columns = [
  ...[{ name: 'Module' }, { name: 'Version' }, { name: 'Engine' }, { name: 'Size', number: true }],
  ...[{ name: 'Licence' }, { name: 'What it does' }],
]

/** The catalogue of modules. */
export function Modules() {
  const modules = useModules()
  return (
    <Page title="Modules">
      <Answer of={modules} height={200}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="There is no module in the catalogue">
              Upload a package: <code>fairlead modules upload FILE</code>
            </Empty>
          ) : (
            <TableBox label="Modules">
              <table className="table">
                <Columns of={columns} />
                <tbody>
                  {all.map((module) => (
                    <ModuleRow key={module.uid} module={module} />
                  ))}
                </tbody>
              </table>
            </TableBox>
          )
        }
      </Answer>
    </Page>
  )
}

function ModuleRow({ module }: { readonly module: Module }) {
  const {
    module_name: name,
    semantic_version: version,
    min_engine_version: least,
    compatible_engine_version: only,
  } = module
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{version}</td>
      <td>{only ?? (least === null ? 'any' : `from ${least}`)}</td>
      <td className="number">{bytes(module.size_bytes)}</td>
      <td>{module.license}</td>
      <td className="details">{module.description}</td>
    </tr>
  )
}
