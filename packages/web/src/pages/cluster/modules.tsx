import type { Module } from '@fairlead/api'
import { useMay } from '../../live/permissions.ts'
import { useModules } from '../../live/queries.ts'
import { Columns } from '../../parts/columns.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { bytes } from '../../words/format.ts'
import { DeleteModule, UploadModule } from './change-modules.tsx'

const columns = [
  ...[{ name: 'Module' }, { name: 'Version' }, { name: 'Engine' }, { name: 'Size', number: true }],
  ...[{ name: 'Licence' }, { name: 'What it does' }],
]

/** The catalogue of modules. */
export function Modules() {
  const modules = useModules()
  const mayChange = useMay()('update_cluster')
  return (
    <Page title="Modules">
      {mayChange && <UploadModule />}
      <Answer of={modules} height={200}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="There is no module in the catalogue">
              <p>
                From a shell: <code>fairlead modules upload FILE</code>
              </p>
            </Empty>
          ) : (
            <TableBox label="Modules">
              <table className="table">
                <Columns of={mayChange ? [...columns, { name: 'Change' }] : columns} />
                <tbody>
                  {all.map((module) => (
                    <ModuleRow key={module.uid} module={module} mayChange={mayChange} />
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

function ModuleRow({ module, mayChange }: { readonly module: Module; readonly mayChange: boolean }) {
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
      {mayChange && (
        <td>
          <DeleteModule module={module} />
        </td>
      )}
    </tr>
  )
}
