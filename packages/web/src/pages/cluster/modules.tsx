import type { Module } from '@fairlead/api'
import { useMay } from '../../live/permissions.ts'
import { useModules } from '../../live/queries.ts'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { bytes } from '../../words/format.ts'
import { DeleteModule, UploadModule } from './change-modules.tsx'

const columns: readonly Column<Module>[] = [
  { name: 'Module', cell: (module) => module.module_name },
  { name: 'Version', cell: (module) => module.semantic_version },
  { name: 'Engine', cell: enginesOf },
  { name: 'Size', number: true, cell: (module) => bytes(module.size_bytes) },
  { name: 'Licence', wraps: true, cell: ({ license }) => license },
  { name: 'What it does', wraps: 'long', cell: ({ description }) => description },
]
const change: Column<Module> = { name: 'Change', cell: (module) => <DeleteModule module={module} /> }

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
            <Table
              label="Modules"
              columns={mayChange ? [...columns, change] : columns}
              keyOf={({ uid }) => uid}
              rows={all}
            />
          )
        }
      </Answer>
    </Page>
  )
}

function enginesOf({ min_engine_version: least, compatible_engine_version: only }: Module): string {
  return only ?? (least === null ? 'any' : `from ${least}`)
}
